/**
 * Extends, settles and releases leases (F6, F7, F8); lease.ts grants them. Each batch is one script on one shard. Links
 * to other shards, and the links of a page beyond MAX_LINKS, are queued before their page is settled. A crash between
 * the two makes the page run again, and its links are then duplicates.
 */
import type { NewTask } from "../../domain/task.ts";
import { type Claim, MAX_BATCH, type SettleAnswer, type SettledState, type Settlement } from "../frontier.ts";
import type { SeenCache } from "../seen-cache.ts";
import type { JobCompletion } from "./cluster/job-completion.ts";
import type { PageQuota } from "./cluster/page-quota.ts";
import { allDone, type Shard, type Shards } from "./cluster/shards.ts";
import { createLaneTable, encodeSettlement, encodeTasks } from "./codec/codec.ts";
import type { ScriptArg } from "./connection/broker-client.ts";
import { discover } from "./enqueue.ts";
import type { HeldClaims } from "./held-claims.ts";

type Settler = {
  extend(claims: readonly Claim[], leaseMs: number): Promise<boolean[]>;
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer>;
  discover(claim: Claim, tasks: readonly NewTask[]): Promise<boolean>;
  release(claims: readonly Claim[]): Promise<void>;
  expire(max: number): Promise<number>;
  abandon(worker: string, crashed?: readonly Claim[]): Promise<number>;
};

type Deps = {
  shards: Shards;
  completion: JobCompletion;
  quota: PageQuota;
  /** The cache is replaced when the broker may have lost writes, and when a job is forgotten. */
  seen(): SeenCache;
  held: HeldClaims;
};

/** Max new links per settle script. */
const MAX_LINKS = 500;
/** A settlement as it is sent: links that are cached as seen are only counted (`known`). */
type Prepared = { index: number; settlement: Settlement; jobId: string | undefined; known: number; links: NewTask[] };

export function createSettler({ shards, completion, quota, seen, held }: Deps): Settler {
  /** Counts links that are cached as seen; only the others are sent. */
  function prepare(settlement: Settlement, index: number): Prepared {
    const jobId = held.jobOf(settlement);
    const links = settlement.outcome.kind === "done" ? settlement.discovered : [];
    const fresh = jobId === undefined ? [...links] : links.filter(({ url }) => !seen().has(jobId, url));
    return { index, settlement, jobId, known: links.length - fresh.length, links: fresh };
  }

  /** Queues links that cannot be sent with the settlement itself. Returns the settlement with the other links. */
  async function queueOtherLinks(shard: Shard, prepared: Prepared): Promise<Prepared> {
    const here = prepared.links.filter(({ site }) => shards.ofSite(site) === shard);
    const elsewhere = prepared.links.filter(({ site }) => shards.ofSite(site) !== shard);
    const before = [...elsewhere, ...here.slice(MAX_LINKS)];
    const along = here.slice(0, MAX_LINKS);
    const { jobId } = prepared;
    if (jobId !== undefined) await quota.provide(shard, jobId, along);
    // A stale claim queues no links. If this process did not get the claim, it does not know the job of the links.
    if (before.length === 0 || jobId === undefined || !(await isHeld(shard, prepared.settlement))) {
      return { ...prepared, links: along };
    }
    await queueLinks(jobId, before);
    return { ...prepared, links: along };
  }

  async function queueLinks(jobId: string, links: readonly NewTask[]): Promise<void> {
    for (const target of shards.all) {
      await discover(
        target,
        quota,
        jobId,
        links.filter(({ site }) => shards.ofSite(site) === target),
      );
    }
  }

  async function isHeld(shard: Shard, { taskId, token }: Claim): Promise<boolean> {
    return (await shard.run("is-held", taskId, token))[1] === 1;
  }

  /** Settles successful pages without new links in one short call. Returns false if nothing changed. */
  async function settleDone(shard: Shard, batch: readonly Prepared[], result: SettleResult): Promise<boolean> {
    const known = batch.reduce((sum, one) => sum + one.known, 0);
    const args = batch.flatMap(({ settlement: { taskId, token, tally } }): ScriptArg[] => {
      const { pages, records, invalid, bytes } = tally;
      return [taskId, token, pages, records, invalid, bytes];
    });
    const [, settled, ...emptied] = await shard.runOnce("settle-done", known, ...args);
    if (settled === 0) return false;
    for (const { index, settlement } of batch) {
      result.states[index] = "done";
      held.drop(settlement);
    }
    result.finished.push(...(await completion.end(emptied.map(String))));
    return true;
  }

  async function settleOn(shard: Shard, batch: readonly Prepared[], result: SettleResult): Promise<void> {
    const lanes = createLaneTable();
    const args = batch.flatMap(({ settlement, known, links }) => [
      ...encodeSettlement(settlement, { known, links: links.length }),
      ...encodeTasks(links, lanes),
    ]);
    const reply = await shard.runOnce("settle", ...lanes.encode(), ...args);
    batch.forEach(({ index, settlement, jobId, links }, nth) => {
      const code = Number(reply[1 + nth]);
      result.states[index] = STATES[code] ?? settlement.outcome.kind;
      held.drop(settlement);
      // 2: every link is now in the job's own set of seen URLs.
      if (code === 2 && jobId !== undefined) for (const { url } of links) seen().add(jobId, url);
    });
    result.finished.push(...(await completion.end(reply.slice(1 + batch.length).map(String))));
  }

  async function settlePart({ shard, part }: Part<Settlement>, result: SettleResult): Promise<void> {
    const prepared: Prepared[] = [];
    for (const { claim, index } of part) {
      const one = prepare(claim, index);
      prepared.push(one.links.length === 0 ? one : await queueOtherLinks(shard, one));
    }
    if (isPlainList(prepared) && (await settleDone(shard, prepared, result))) return;
    for (const batch of batches(prepared)) await settleOn(shard, batch, result);
  }

  return {
    async extend(claims, leaseMs) {
      const kept = claims.map(() => false);
      // All shards at once: leases must not expire because another shard is unreachable.
      const calls = split(shards, claims).map(async ({ shard, part }) => {
        const args = part.flatMap(({ claim }) => [claim.taskId, claim.token]);
        const { reply } = await shard.runFailFast("extend", leaseMs, ...args);
        part.forEach(({ claim, index }, nth) => {
          kept[index] = reply[1 + nth] === 1;
          if (!kept[index]) held.drop(claim);
        });
      });
      await allDone(calls);
      return kept;
    },
    async settle(settlements) {
      const result: SettleResult = { states: settlements.map(() => "stale"), finished: [] };
      await onEach(split(shards, settlements), (part) => settlePart(part, result));
      return result;
    },
    async discover(claim, tasks) {
      const [shard, jobId] = [shards.ofTask(claim.taskId), held.jobOf(claim)];
      if (shard === undefined || jobId === undefined || !(await isHeld(shard, claim))) return false;
      await queueLinks(jobId, tasks);
      return true;
    },
    async release(claims) {
      await onEach(split(shards, claims), async ({ shard, part }) => {
        const reply = await shard.run("release", ...part.flatMap(({ claim }) => [claim.taskId, claim.token]));
        for (const { claim } of part) held.drop(claim);
        await completion.end(reply.slice(1).map(String));
      });
    },
    async expire(max) {
      const calls = shards.all.map(async (shard) => {
        const [, moved, ...emptied] = (await shard.runFailFast("reap", Math.min(max, MAX_BATCH))).reply;
        await completion.end(emptied.map(String));
        return Number(moved);
      });
      return (await allDone(calls)).reduce((sum, moved) => sum + moved, 0);
    },
    async abandon(worker, crashed) {
      const calls = shards.all.map(async (shard) => {
        const own = crashed?.filter(({ taskId }) => shards.ofTask(taskId) === shard) ?? [];
        const causes = [crashed === undefined ? 0 : 1, ...own.flatMap(({ taskId, token }) => [taskId, token])];
        let total = 0;
        for (let moved = MAX_BATCH; moved === MAX_BATCH; total += moved) {
          const [, count, ...emptied] = await shard.run("abandon", worker, MAX_BATCH, ...causes);
          await completion.end(emptied.map(String));
          moved = Number(count);
        }
        return total;
      });
      return (await allDone(calls)).reduce((sum, moved) => sum + moved, 0);
    },
  };
}

/** Reply codes of settle.lua that differ from the outcome of the settlement. */
const STATES: Readonly<Record<number, SettledState>> = { 0: "stale", 3: "dead", 4: "cancelled" };

type SettleResult = { states: SettledState[]; finished: string[] };
type Part<C> = { shard: Shard; part: { claim: C; index: number }[] };

/** Splits claims by shard and into batches of MAX_BATCH (F17). Leaves out claims whose task id is invalid. */
function split<C extends Claim>(shards: Shards, claims: readonly C[]): Part<C>[] {
  const parts: Part<C>[] = [];
  const open = new Map<Shard, Part<C>>();
  claims.forEach((claim, index) => {
    const shard = shards.ofTask(claim.taskId);
    if (shard === undefined) return;
    let current = open.get(shard);
    if (current === undefined || current.part.length === MAX_BATCH) {
      current = { shard, part: [] };
      open.set(shard, current);
      parts.push(current);
    }
    current.part.push({ claim, index });
  });
  return parts;
}

/**
 * Runs the parts of a shard one after the other, and all shards at once, so that an unreachable shard delays no other.
 */
async function onEach<C>(parts: readonly Part<C>[], call: (part: Part<C>) => Promise<void>): Promise<void> {
  const shards = new Set(parts.map(({ shard }) => shard));
  const calls = [...shards].map(async (shard) => {
    for (const part of parts) if (part.shard === shard) await call(part);
  });
  await allDone(calls);
}

/**
 * Whether settle-done may be used: all tasks are done and all sites responded well, there are no new or refused links,
 * and no task occurs twice.
 */
function isPlainList(settlements: readonly Prepared[]): boolean {
  const isPlain = ({ settlement: { outcome, site, refusedLinks }, links }: Prepared) =>
    outcome.kind === "done" && site.kind === "ok" && refusedLinks === 0 && links.length === 0;
  if (!settlements.every(isPlain)) return false;
  return new Set(settlements.map(({ settlement }) => settlement.taskId)).size === settlements.length;
}

/** Splits settlements into batches of at most MAX_LINKS links, with at least one settlement each. */
function* batches(settlements: readonly Prepared[]): Generator<readonly Prepared[]> {
  let batch: Prepared[] = [];
  let links = 0;
  for (const one of settlements) {
    if (batch.length > 0 && links + one.links.length > MAX_LINKS) {
      yield batch;
      batch = [];
      links = 0;
    }
    batch.push(one);
    links += one.links.length;
  }
  if (batch.length > 0) yield batch;
}
