/**
 * Measures how many confirmed writes of a broker are lost when Redis is killed with `kill -9`. A URL that was confirmed
 * before, and is accepted as new after the restart, was lost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isTrawlError } from "../../src/errors.ts";
import { openRedisFrontier } from "../../src/frontier/redis/open.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import { aJob, aTask, grantsOf, settlementOf } from "../contracts/frontier/makers.ts";
import { type RedisOptions, startRedis } from "../services/redis.ts";

export type Loss = {
  /** Confirmed before the kill. */
  queued: number;
  settled: number;
  lostUrls: number;
  lostSettlements: number;
  /** From the first call to the last reply. */
  busyMs: number;
};

type Confirmed = { urls: string[]; settled: number };

const BATCH = 50;
const SITES = 20;
const JOB = "job";

/** Submits and settles at full speed for `killAfterMs`, kills the server, restarts it and counts the losses. */
export async function runLossRound(appendonly: RedisOptions["appendonly"], killAfterMs: number): Promise<Loss> {
  const server = await startRedis({ appendonly: appendonly ?? "no" });
  try {
    const confirmed: Confirmed = { urls: [], settled: 0 };
    const frontier = await open(server.url);
    await frontier.createJob(aJob({ id: JOB }));
    const startedAt = performance.now();
    const loops = [untilLost(() => submitSome(frontier, confirmed)), untilLost(() => workSome(frontier, confirmed))];
    await sleep(killAfterMs); // the kill may hit any point of the work
    await server.kill();
    await Promise.all(loops);
    const busyMs = performance.now() - startedAt;
    await frontier.close();
    await server.restart();
    return {
      queued: confirmed.urls.length,
      settled: confirmed.settled,
      busyMs,
      ...(await countLosses(server.url, confirmed)),
    };
  } finally {
    await server.stop();
  }
}

function open(url: string): Promise<AnyFrontier> {
  const deps = { clock: systemClock(), log: createLog("silent", () => {}) };
  // No retries: a call that was not confirmed before the kill must not be executed after it.
  const options = { maxPending: 1e9, retryForMs: 0, pollMs: 1000, time: "broker" as const };
  return openRedisFrontier(url, deps, { prefix: "trawl", shards: 1, ...options });
}

/** Repeats `work` until the broker is unreachable. */
async function untilLost(work: () => Promise<void>): Promise<void> {
  try {
    for (;;) await work();
  } catch (error) {
    if (!isTrawlError(error, "BROKER_UNREACHABLE")) throw error;
  }
}

async function submitSome(frontier: AnyFrontier, { urls }: Confirmed): Promise<void> {
  const batch = Array.from({ length: BATCH }, (_, nth) => {
    const number = urls.length + nth;
    return `https://site-${number % SITES}.test/page/${number}`;
  });
  const { queued } = await frontier.enqueue(
    JOB,
    batch.map((url) => aTask(url)),
  );
  if (queued !== BATCH) throw new Error(`${queued} of ${BATCH} new URLs were queued`);
  urls.push(...batch);
}

async function workSome(frontier: AnyFrontier, confirmed: Confirmed): Promise<void> {
  const grants = await grantsOf(frontier, { max: BATCH });
  await frontier.settle(grants.map((grant) => settlementOf(grant)));
  confirmed.settled += grants.length;
}

async function countLosses(
  url: string,
  { urls, settled }: Confirmed,
): Promise<Pick<Loss, "lostUrls" | "lostSettlements">> {
  const frontier = await open(url);
  try {
    const job = await frontier.findJob(JOB);
    if (job === undefined) return { lostUrls: urls.length, lostSettlements: settled };
    const { queued } = await frontier.enqueue(
      JOB,
      urls.map((seen) => aTask(seen)),
    );
    // Only the last writes are lost: if an unconfirmed write was kept, all confirmed ones before it were kept, too.
    return { lostUrls: queued, lostSettlements: Math.max(0, settled - job.counts.done) };
  } finally {
    await frontier.close();
  }
}
