/** What the API says of how the fleet did: over time, and just now. */
import { z } from "zod";
import { addLatencies, noLatencies, percentileMs } from "../domain/latency.ts";
import type { QueueView, WorkerView } from "../frontier/frontier-admin.ts";
import { perSecond, recentOf } from "../frontier/worker-facts.ts";
import { addWork, type HistorySlot, noWork } from "../store/history-book.ts";

const count = z.int().min(0);
const some = z.number().min(0);

export const historyPointSchemaOut = z.strictObject({
  at: z.iso.datetime().describe("When its time begins."),
  pages: count.nullable().describe("Pages that were read; null, as all counts, where nobody was there to count."),
  done: count.nullable().describe("Tries that ended as they should."),
  failed: count.nullable().describe("Tries that ended without a page: tried again later, or given up on."),
  dead: count.nullable().describe("Of these, given up on: dead letters."),
  records: count.nullable(),
  bytes: count.nullable().describe("Of bodies, after decompression."),
  pagesPerSecond: some.nullable(),
  success: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe("Which share of all tries ended as they should; null: none did."),
  p50Ms: some.nullable().describe("How long tries took from lease to result: half of them at most this."),
  p95Ms: some.nullable(),
  p99Ms: some.nullable(),
  waiting: count.nullable().describe("URLs that waited, at its end; null where no server was there to look."),
  inFlight: count.nullable().describe("Tasks under way, the same."),
  workers: count.nullable(),
});

export const historySchemaOut = z.strictObject({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  stepSeconds: count.describe("How much time each point is for."),
  points: z.array(historyPointSchemaOut).describe("Oldest first, without a gap; the last one is still filling."),
});

/** What `fleet` events have besides queues and workers: how it goes now. */
export const paceSchemaOut = z.strictObject({
  pagesPerSecond: some.describe("Over the last 5 to 10 seconds, of all workers."),
  success: z.number().min(0).max(1).nullable(),
  p50Ms: some.nullable(),
  p95Ms: some.nullable(),
  waiting: count,
  inFlight: count,
});

export type HistoryPointOut = z.output<typeof historyPointSchemaOut>;
export type HistoryOut = z.output<typeof historySchemaOut>;
export type PaceOut = z.output<typeof paceSchemaOut>;

/** Every point from `from` to `to`, made of the slots in it. */
export function pointsOut(slots: readonly HistorySlot[], from: number, to: number, stepMs: number): HistoryPointOut[] {
  const byPoint = new Map<number, HistorySlot[]>();
  for (const slot of slots) {
    const nth = Math.floor((slot.at - from) / stepMs);
    const point = byPoint.get(nth) ?? [];
    point.push(slot);
    byPoint.set(nth, point);
  }
  const points = Math.ceil((to - from) / stepMs);
  return Array.from({ length: points }, (_, nth) => pointOut(byPoint.get(nth) ?? [], from + nth * stepMs, stepMs));
}

function pointOut(slots: readonly HistorySlot[], from: number, stepMs: number): HistoryPointOut {
  const at = new Date(from).toISOString();
  const { waiting = null, inFlight = null, workers = null } = slots.findLast(({ gauges }) => gauges)?.gauges ?? {};
  const gauges = { waiting, inFlight, workers };
  if (slots.length === 0) return { at, ...NOTHING, ...gauges };
  const sum = noWork();
  for (const { at: _at, gauges: _gauges, ...counts } of slots) addWork(sum, counts);
  const { latencies, ...counts } = sum;
  return {
    at,
    ...counts,
    pagesPerSecond: rounded((counts.pages * 1000) / stepMs),
    success: shareOf(counts),
    ...percentilesOf(latencies),
    p99Ms: roundedMs(percentileMs(latencies, 0.99)),
    ...gauges,
  };
}

const NOTHING = {
  ...{ pages: null, done: null, failed: null, dead: null, records: null, bytes: null },
  ...{ pagesPerSecond: null, success: null, p50Ms: null, p95Ms: null, p99Ms: null },
};

/** Workers tell what they did in the last seconds: it only has to be added up. */
export function paceOut(queues: readonly QueueView[], workers: readonly WorkerView[], now: number): PaceOut {
  const all = { done: 0, failed: 0, latencies: noLatencies() };
  const recents = recentOf(workers, now);
  for (const { done, failed, latencies } of recents) {
    all.done += done;
    all.failed += failed;
    const counts = noLatencies();
    for (const [bucket, tasks] of latencies) counts[bucket] = tasks;
    addLatencies(all.latencies, counts);
  }
  return {
    pagesPerSecond: rounded(perSecond("pages", recents)),
    success: shareOf(all),
    ...percentilesOf(all.latencies),
    waiting: queues.reduce((sum, { waiting }) => sum + waiting, 0),
    inFlight: workers.reduce((sum, { vitals }) => sum + (vitals?.busy ?? 0), 0),
  };
}

function shareOf({ done, failed }: { done: number; failed: number }): number | null {
  return done + failed === 0 ? null : rounded(done / (done + failed), 10_000);
}

function percentilesOf(latencies: readonly number[]): { p50Ms: number | null; p95Ms: number | null } {
  return { p50Ms: roundedMs(percentileMs(latencies, 0.5)), p95Ms: roundedMs(percentileMs(latencies, 0.95)) };
}

function roundedMs(ms: number | undefined): number | null {
  return ms === undefined ? null : rounded(ms, 10);
}

function rounded(value: number, to = 100): number {
  return Math.round(value * to) / to;
}
