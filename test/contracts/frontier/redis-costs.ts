/** The number and kind of Redis commands of a lease call (F4). It measures no time. */
import { loadScripts } from "../../../src/frontier/redis/connection/scripts.ts";
import type { ManualClock } from "../../model/manual-clock.ts";
import { withRedis } from "../../services/redis-client.ts";
import { type AnyFrontier, type Features, START_AT } from "./backend.ts";
import { aJob, aRequest, aTask, settleAll } from "./makers.ts";

type Held = Parameters<Features["costs"]["countLeaseWork"]>[0];
type Counted = { frontier: AnyFrontier; clock: ManualClock; port: number };

/**
 * The number of commands of the lease script, as the server counts them. No other test may use the server during the
 * call.
 */
export async function countLeaseWork({ frontier, clock, port }: Counted, held: Held): Promise<number> {
  await fill(frontier, clock, held);
  await withRedis(port, (redis) => redis.config("RESETSTAT"));
  const { grants } = await frontier.lease(aRequest({ max: held.max }));
  const stats = await withRedis(port, (redis) => redis.info("commandstats"));
  if (grants.length !== held.max) throw new Error(`${grants.length} of ${held.max} were granted`);
  const calls = [...stats.matchAll(/^cmdstat_(?!config|info|client|select|hello)\S+:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Commands in the lease script whose cost is not bounded by the request. */
export function listUnboundedPlans(): string[] {
  const source = loadScripts().get("lease")?.source ?? "";
  const calls = source.match(/redis\.call\(.*/g) ?? ["no calls: the script was not loaded"];
  return calls.filter(
    (call) =>
      /"(KEYS|SCAN|HGETALL|HKEYS|HVALS|SMEMBERS|SORT|LRANGE|HSCAN|ZSCAN|SSCAN)"/.test(call) ||
      (/"ZRANGEBYSCORE"/.test(call) && !call.includes("LIMIT")) ||
      (/"ZRANGE"/.test(call) && !call.includes("0, 0")),
  );
}

async function fill(frontier: AnyFrontier, clock: ManualClock, { readySites, blockedSites, tasksPerSite }: Held) {
  // The blocked sites have just been requested, so their rate blocks them.
  await frontier.createJob(aJob({ policy: { intervalMs: 1e6, burst: 1, perSite: 5 } }));
  const at = (name: string, count: number) =>
    Array.from({ length: count }, (_, site) =>
      Array.from({ length: tasksPerSite }, (_, nth) => aTask(`https://${name}-${site}.test/${nth}`)),
    ).flat();
  await frontier.enqueue("job", at("blocked", blockedSites));
  for (let left = blockedSites; left > 0; ) {
    const { grants } = await frontier.lease(aRequest({ max: left }));
    await settleAll(frontier, grants);
    left -= grants.length;
  }
  await frontier.enqueue("job", at("ready", readySites));
  clock.advanceTo(START_AT);
}
