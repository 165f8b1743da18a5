/**
 * How much of what a broker has answered for is gone after `kill -9` of Redis. The seen URLs are the judge: a URL that was
 * taken once, and is taken as new again after the restart, had been lost.
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
  /** What was answered for before the kill. */
  queued: number;
  settled: number;
  lostUrls: number;
  lostSettlements: number;
  /** From the first to the last answer. */
  busyMs: number;
};

type Books = { urls: string[]; settled: number };

const BATCH = 50;
const SITES = 20;
const JOB = "job";

/** Works as fast as it can for `killAfterMs`, kills the server, starts it again and looks. */
export async function runLossRound(appendonly: RedisOptions["appendonly"], killAfterMs: number): Promise<Loss> {
  const server = await startRedis({ appendonly: appendonly ?? "no" });
  try {
    const books: Books = { urls: [], settled: 0 };
    const frontier = await open(server.url);
    await frontier.createJob(aJob({ id: JOB }));
    const startedAt = performance.now();
    const lines = [untilLost(() => submitSome(frontier, books)), untilLost(() => workSome(frontier, books))];
    await sleep(killAfterMs); // the fault is to hit anywhere
    await server.kill();
    await Promise.all(lines);
    const busyMs = performance.now() - startedAt;
    await frontier.close();
    await server.restart();
    return { queued: books.urls.length, settled: books.settled, busyMs, ...(await judge(server.url, books)) };
  } finally {
    await server.stop();
  }
}

function open(url: string): Promise<AnyFrontier> {
  const deps = { clock: systemClock(), log: createLog("silent", () => {}) };
  // No patience: what was not answered before the kill must not be done after it.
  const options = { maxPending: 1e9, patienceMs: 0, pollMs: 1000, time: "broker" as const };
  return openRedisFrontier(url, deps, { prefix: "trawl", shards: 1, ...options });
}

/** Again and again, until the broker is gone. */
async function untilLost(work: () => Promise<void>): Promise<void> {
  try {
    for (;;) await work();
  } catch (error) {
    if (!isTrawlError(error, "BROKER_UNREACHABLE")) throw error;
  }
}

async function submitSome(frontier: AnyFrontier, { urls }: Books): Promise<void> {
  const batch = Array.from({ length: BATCH }, (_, nth) => {
    const number = urls.length + nth;
    return `https://site-${number % SITES}.test/page/${number}`;
  });
  const { queued } = await frontier.enqueue(
    JOB,
    batch.map((url) => aTask(url)),
  );
  if (queued !== BATCH) throw new Error(`${queued} of ${BATCH} fresh URLs were queued`);
  urls.push(...batch);
}

async function workSome(frontier: AnyFrontier, books: Books): Promise<void> {
  const grants = await grantsOf(frontier, { max: BATCH });
  await frontier.settle(grants.map((grant) => settlementOf(grant)));
  books.settled += grants.length;
}

async function judge(url: string, { urls, settled }: Books): Promise<Pick<Loss, "lostUrls" | "lostSettlements">> {
  const frontier = await open(url);
  try {
    const job = await frontier.findJob(JOB);
    if (job === undefined) return { lostUrls: urls.length, lostSettlements: settled };
    const { queued } = await frontier.enqueue(
      JOB,
      urls.map((seen) => aTask(seen)),
    );
    // Writes are lost from the end: were one that had no answer there, nothing before it would be missing.
    return { lostUrls: queued, lostSettlements: Math.max(0, settled - job.counts.done) };
  } finally {
    await frontier.close();
  }
}
