/**
 * Claims: kept alive, settled, handed back (F6, F7, F8); granting.ts grants them. Each step is one script on one shard. Links to
 * other shards, and what a page has over LINKS_MOST of them, are queued before their parent is settled: a crash between
 * the two makes the parent run again and find them seen.
 */
import type { NewTask } from "../../domain/task.ts";
import { BATCH_MOST, type Claim, type SettleAnswer, type Settlement } from "../frontier.ts";
import type { SeenCache } from "../seen-cache.ts";
import type { Word } from "./broker.ts";
import type { Endings } from "./endings.ts";
import { discover } from "./enqueue.ts";
import type { Holdings } from "./holdings.ts";
import type { PageQuota } from "./page-quota.ts";
import { allDone, type Shard, type Shards } from "./shards.ts";
import { createLaneBook, settlementWords, taskWords } from "./words.ts";

export type Leases = {
  extend(claims: readonly Claim[], leaseMs: number): Promise<boolean[]>;
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer>;
  release(claims: readonly Claim[]): Promise<void>;
  expire(max: number): Promise<number>;
  abandon(worker: string): Promise<number>;
};

type Deps = {
  shards: Shards;
  endings: Endings;
  quota: PageQuota;
  /** Replaced when the broker may have forgotten. */
  seen(): SeenCache;
  holdings: Holdings;
};

/** Links one settlement script takes in. */
const LINKS_MOST = 500;
/** A settlement as it goes to the script: links it knows to be seen are only counted. */
type Prepared = { index: number; settlement: Settlement; jobId: string | undefined; known: number; links: NewTask[] };

export function createLeases({ shards, endings, quota, seen, holdings }: Deps): Leases {
  /** Counts what is known to be seen, and leaves the rest to be sent. */
  function prepare(settlement: Settlement, index: number): Prepared {
    const jobId = holdings.jobOf(settlement);
    const links = settlement.outcome.kind === "done" ? settlement.discovered : [];
    const fresh = jobId === undefined ? [...links] : links.filter(({ url }) => !seen().has(jobId, url));
    return { index, settlement, jobId, known: links.length - fresh.length, links: fresh };
  }

  /** Queues what cannot go with the settlement itself; what is left goes with it. */
  async function sendAhead(shard: Shard, prepared: Prepared): Promise<Prepared> {
    const here = prepared.links.filter(({ site }) => shards.ofSite(site) === shard);
    const elsewhere = prepared.links.filter(({ site }) => shards.ofSite(site) !== shard);
    const ahead = [...elsewhere, ...here.slice(LINKS_MOST)];
    const along = here.slice(0, LINKS_MOST);
    const { jobId } = prepared;
    if (jobId !== undefined) await quota.provide(shard, jobId, along);
    // Nobody's task: a claim that is not this process's is stale, or will be settled without these.
    if (ahead.length === 0 || jobId === undefined || !(await isHeld(shard, prepared.settlement))) {
      return { ...prepared, links: along };
    }
    for (const target of shards.all) {
      const links = ahead.filter(({ site }) => shards.ofSite(site) === target);
      await discover(target, quota, jobId, links);
    }
    return { ...prepared, links: along };
  }

  async function isHeld(shard: Shard, { taskId, token }: Claim): Promise<boolean> {
    return (await shard.run("holds", taskId, token))[1] === 1;
  }

  /** Pages that ended well and led nowhere new go in one short call; false if it changed nothing. */
  async function settleDone(shard: Shard, batch: readonly Prepared[], answer: Verdicts): Promise<boolean> {
    const known = batch.reduce((sum, one) => sum + one.known, 0);
    const words = batch.flatMap(({ settlement: { taskId, token, tally } }): Word[] => {
      const { pages, records, invalid, bytes } = tally;
      return [taskId, token, pages, records, invalid, bytes];
    });
    const [, settled, ...quiet] = await shard.runOnce("settle-done", known, ...words);
    if (settled === 0) return false;
    for (const { index, settlement } of batch) {
      answer.verdicts[index] = "settled";
      holdings.drop(settlement);
    }
    answer.finished.push(...(await endings.end(quiet.map(String))));
    return true;
  }

  async function settleOn(shard: Shard, batch: readonly Prepared[], answer: Verdicts): Promise<void> {
    const lanes = createLaneBook();
    const words = batch.flatMap(({ settlement, known, links }) => [
      ...settlementWords(settlement, { known, links: links.length }),
      ...taskWords(links, lanes),
    ]);
    const reply = await shard.runOnce("settle", ...lanes.words(), ...words);
    batch.forEach(({ index, settlement, jobId, links }, nth) => {
      const verdict = Number(reply[1 + nth]);
      answer.verdicts[index] = verdict === 0 ? "stale" : "settled";
      holdings.drop(settlement);
      // 2: every link is now in the job's own set of seen URLs.
      if (verdict === 2 && jobId !== undefined) for (const { url } of links) seen().add(jobId, url);
    });
    answer.finished.push(...(await endings.end(reply.slice(1 + batch.length).map(String))));
  }

  async function settlePart({ shard, part }: Part<Settlement>, answer: Verdicts): Promise<void> {
    const prepared: Prepared[] = [];
    for (const { claim, index } of part) {
      const one = prepare(claim, index);
      prepared.push(one.links.length === 0 ? one : await sendAhead(shard, one));
    }
    if (isPlainList(prepared) && (await settleDone(shard, prepared, answer))) return;
    for (const batch of batches(prepared)) await settleOn(shard, batch, answer);
  }

  return {
    async extend(claims, leaseMs) {
      const kept = claims.map(() => false);
      // All at once: the leases on other shards must not run out while one is away.
      const calls = split(shards, claims).map(async ({ shard, part }) => {
        const words = part.flatMap(({ claim }) => [claim.taskId, claim.token]);
        const { reply } = await shard.runNow("extend", leaseMs, ...words);
        part.forEach(({ claim, index }, nth) => {
          kept[index] = reply[1 + nth] === 1;
          if (!kept[index]) holdings.drop(claim);
        });
      });
      await allDone(calls);
      return kept;
    },
    async settle(settlements) {
      const answer: Verdicts = { verdicts: settlements.map(() => "stale"), finished: [] };
      await onEach(split(shards, settlements), (part) => settlePart(part, answer));
      return answer;
    },
    async release(claims) {
      await onEach(split(shards, claims), async ({ shard, part }) => {
        const reply = await shard.run("release", ...part.flatMap(({ claim }) => [claim.taskId, claim.token]));
        for (const { claim } of part) holdings.drop(claim);
        await endings.end(reply.slice(1).map(String));
      });
    },
    async expire(max) {
      const calls = shards.all.map(async (shard) => {
        const [, moved, ...quiet] = (await shard.runNow("reap", Math.min(max, BATCH_MOST))).reply;
        await endings.end(quiet.map(String));
        return Number(moved);
      });
      return (await allDone(calls)).reduce((sum, moved) => sum + moved, 0);
    },
    async abandon(worker) {
      const calls = shards.all.map(async (shard) => {
        let total = 0;
        for (let moved = BATCH_MOST; moved === BATCH_MOST; total += moved) {
          const [, count, ...quiet] = await shard.run("abandon", worker, BATCH_MOST);
          await endings.end(quiet.map(String));
          moved = Number(count);
        }
        return total;
      });
      return (await allDone(calls)).reduce((sum, moved) => sum + moved, 0);
    },
  };
}

type Verdicts = { verdicts: ("settled" | "stale")[]; finished: string[] };
type Part<C> = { shard: Shard; part: { claim: C; index: number }[] };

/** By shard, and as many as one step takes at a time (F17). What names no task is left out. */
function split<C extends Claim>(shards: Shards, claims: readonly C[]): Part<C>[] {
  const parts: Part<C>[] = [];
  const open = new Map<Shard, Part<C>>();
  claims.forEach((claim, index) => {
    const shard = shards.ofTask(claim.taskId);
    if (shard === undefined) return;
    let current = open.get(shard);
    if (current === undefined || current.part.length === BATCH_MOST) {
      current = { shard, part: [] };
      open.set(shard, current);
      parts.push(current);
    }
    current.part.push({ claim, index });
  });
  return parts;
}

/** The parts of each shard in turn, all shards at once: one that is out of reach keeps none of the others waiting. */
async function onEach<C>(parts: readonly Part<C>[], call: (part: Part<C>) => Promise<void>): Promise<void> {
  const shards = new Set(parts.map(({ shard }) => shard));
  const calls = [...shards].map(async (shard) => {
    for (const part of parts) if (part.shard === shard) await call(part);
  });
  await allDone(calls);
}

/** Whether these only have to be counted: all done, nothing new found, no site complaining, no claim twice. */
function isPlainList(settlements: readonly Prepared[]): boolean {
  const isPlain = ({ settlement: { outcome, site, refusedLinks }, links }: Prepared) =>
    outcome.kind === "done" && site.kind === "ok" && refusedLinks === 0 && links.length === 0;
  if (!settlements.every(isPlain)) return false;
  return new Set(settlements.map(({ settlement }) => settlement.taskId)).size === settlements.length;
}

/** So many settlements that they and their links stay within one script's measure; at least one. */
function* batches(settlements: readonly Prepared[]): Generator<readonly Prepared[]> {
  let batch: Prepared[] = [];
  let links = 0;
  for (const one of settlements) {
    if (batch.length > 0 && links + one.links.length > LINKS_MOST) {
      yield batch;
      batch = [];
      links = 0;
    }
    batch.push(one);
    links += one.links.length;
  }
  if (batch.length > 0) yield batch;
}
