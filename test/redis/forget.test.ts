/** A forgotten job leaves nothing in Redis, on one shard or several (F21). */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewJob } from "../../src/frontier/frontier.ts";
import { openRedisFrontier } from "../../src/frontier/redis/open.ts";
import { createLog } from "../../src/runtime/log.ts";
import { type AnyFrontier, START_AT } from "../contracts/frontier/backend.ts";
import { aJob, drain, grantsOf, settleAll, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { newPrefix } from "../contracts/frontier/redis-backend.ts";
import { createManualClock } from "../model/manual-clock.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { aJobSpec } from "../submit/a-job-spec.ts";

const SITES = ["a.test", "b.test", "c.test", "d.test", "e.test"];

describe.each([1, 4])("a forgotten job on %i shards", (shards) => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  async function open(prefix: string) {
    const clock = createManualClock(START_AT);
    const options = { prefix, shards, maxPending: 1e9, retryForMs: 0, pollMs: 1e9, time: "caller" as const };
    const frontier = await openRedisFrontier(redis.url, { clock, log: createLog("silent", () => {}) }, options);
    return { frontier, clock };
  }

  /** Every key of the namespace with its size, except those that expire and the counters of sites and queues. */
  async function sizesOf(prefix: string): Promise<Record<string, number>> {
    return withRedis(redis.port, async (client) => {
      const found: Record<string, number> = {};
      for (const key of await client.keys(`${prefix}:*`)) {
        if (/:(receipt|meta|waiting|site-waiting|site|idle)(:|$)/.test(key)) continue;
        const type = await client.type(key);
        const size = { hash: "HLEN", zset: "ZCARD", set: "SCARD", list: "LLEN" }[type];
        found[key] = size === undefined ? 1 : Number(await client.call(size, key));
      }
      return found;
    });
  }

  const everywhere = (count: number) => SITES.flatMap((site) => tasksAt(site, count));

  /** Runs a job to its end, with some dead letters. */
  async function runJob(frontier: AnyFrontier, job: NewJob, count: number): Promise<void> {
    await submit(frontier, job, everywhere(count));
    const dead = await grantsOf(frontier, { max: 40 });
    await settleAll(frontier, dead, { outcome: { kind: "dead", because: "too_big", detail: "x".repeat(100) } });
    await frontier.setPriority(job.id, 3);
  }

  it("leaves nothing after it was finished or cancelled", async () => {
    const prefix = newPrefix();
    const broker = await open(prefix);
    const { frontier } = broker;
    await submit(frontier, aJob({ id: "first" }), everywhere(1));
    await frontier.seal("first");
    await drain(broker);
    while ((await frontier.forgetJob("first", 500)) === "more") {}
    const base = await sizesOf(prefix);
    const rich = {
      sites: Object.fromEntries(SITES.map((site) => [site, { intervalMs: 0, burst: 1, perSite: 50 }])),
      limits: { pages: 5000, deadlineAt: START_AT + 1e9 },
      spec: aJobSpec({ headers: { secret: "x".repeat(10_000) } }),
    };

    await runJob(frontier, aJob({ id: "finished", ...rich }), 500);
    await frontier.seal("finished");
    await drain(broker);
    await runJob(frontier, aJob({ id: "cancelled", ...rich }), 300);
    const held = await grantsOf(frontier, { max: 7 });
    await frontier.cancel("cancelled");
    await settleAll(frontier, held);
    expect(Object.keys(await sizesOf(prefix)).length).toBeGreaterThan(Object.keys(base).length);

    for (const id of ["finished", "cancelled"]) while ((await frontier.forgetJob(id, 20)) === "more") {}

    expect(await sizesOf(prefix)).toEqual(base);
    await frontier.close();
  });

  it("is removed in more calls if it has more seen URLs, so each call is short", async () => {
    const prefix = newPrefix();
    const { frontier, clock } = await open(prefix);
    await submit(frontier, aJob(), everywhere(4_000));
    await frontier.cancel("job");
    const buckets = Object.keys(await sizesOf(prefix)).filter((key) => key.includes(":seen:")).length;
    expect(buckets).toBeGreaterThan(50 * shards);

    let calls = 1;
    while ((await frontier.forgetJob("job", 10)) === "more") calls++;

    expect(calls).toBeGreaterThanOrEqual(Math.floor(buckets / shards / 10));
    expect(clock.now()).toBe(START_AT);
    await frontier.close();
  });

  it("is removed from every shard even if the process was killed after the first step", async () => {
    const prefix = newPrefix();
    const broker = await open(prefix);
    const { frontier } = broker;
    const empty = await sizesOf(prefix);
    await runJob(frontier, aJob(), 30);
    await frontier.seal("job");
    await drain(broker);

    // Only the first shard has removed the job.
    await removeOnFirstShard(prefix);
    expect(await frontier.findJob("job")).toBeUndefined();

    for (let nth = 0; nth < 20; nth++) await frontier.reap(10);

    const left = await sizesOf(prefix);
    const own = Object.keys(left).filter((key) => !(key in empty) && !/:(sites|ranks)$/.test(key));
    expect(own).toEqual([]);
    await frontier.close();
  });

  /** The state after a process was killed after its first step. */
  async function removeOnFirstShard(prefix: string): Promise<void> {
    const { loadScripts } = await import("../../src/frontier/redis/connection/scripts.ts");
    const source = loadScripts().get("forget-job")?.source ?? "";
    await withRedis(redis.port, async (client) => {
      // Only the owner shard lists the job as ended.
      for (let shard = 0; shard < shards; shard++) {
        const name = `${prefix}:{${shard}}`;
        if ((await client.zcard(`${name}:ended`)) > 0) await client.eval(source, 1, name, START_AT, "job", "decide");
      }
    });
  }
});
