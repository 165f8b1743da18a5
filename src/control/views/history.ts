/** The history and the current speed of the fleet, as the API returns them and as `--json` prints them. */
import { addLatencies, noLatencies, percentileMs } from "../../domain/latency.ts";
import type { QueueView, WorkerView } from "../../frontier/frontier-admin.ts";
import { perSecond, recentOf } from "../../frontier/worker-facts.ts";
import { addWork, type HistoryBucket, noWork } from "../../store/history-store.ts";

/** Counts are null for an interval without stored buckets; gauges are null if no server sampled them. */
export type HistoryPointOut = {
  at: string;
  pages: number | null;
  done: number | null;
  failed: number | null;
  dead: number | null;
  records: number | null;
  bytes: number | null;
  pagesPerSecond: number | null;
  success: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  p99Ms: number | null;
  waiting: number | null;
  inFlight: number | null;
  workers: number | null;
};

/** The current speed of the fleet, over the last 5 to 10 seconds. */
export type PaceOut = {
  pagesPerSecond: number;
  success: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  waiting: number;
  inFlight: number;
};

/** One point for each interval of `stepMs` from `from` to `to`: the sum of the stored buckets in that interval. */
export function pointsOut(
  buckets: readonly HistoryBucket[],
  from: number,
  to: number,
  stepMs: number,
): HistoryPointOut[] {
  const byPoint = new Map<number, HistoryBucket[]>();
  for (const bucket of buckets) {
    const nth = Math.floor((bucket.at - from) / stepMs);
    const point = byPoint.get(nth) ?? [];
    point.push(bucket);
    byPoint.set(nth, point);
  }
  const points = Math.ceil((to - from) / stepMs);
  return Array.from({ length: points }, (_, nth) => pointOut(byPoint.get(nth) ?? [], from + nth * stepMs, stepMs));
}

function pointOut(buckets: readonly HistoryBucket[], from: number, stepMs: number): HistoryPointOut {
  const at = new Date(from).toISOString();
  const { waiting = null, inFlight = null, workers = null } = buckets.findLast(({ gauges }) => gauges)?.gauges ?? {};
  const gauges = { waiting, inFlight, workers };
  if (buckets.length === 0) return { at, ...NOTHING, ...gauges };
  const sum = noWork();
  for (const { at: _at, gauges: _gauges, ...counts } of buckets) addWork(sum, counts);
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

/** The current speed of the fleet: the sum of the workers' reports about their last seconds. */
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
