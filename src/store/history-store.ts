/**
 * History of the fleet: counts of its work and gauges of its load, in buckets of fixed width, kept in the store. Every
 * few seconds, workers add their counts to one bucket of each width, so no later rollup is needed. Servers set the
 * gauges. Every implementation passes test/contracts/store/describe-history.ts:
 *
 * H1 Counts that several writers add to a bucket are summed, in a bucket of every width.
 * H2 The last write of a bucket's gauges wins. Counts and gauges of a bucket do not affect each other.
 * H3 A bucket that was never written does not exist.
 * H4 Pruning removes buckets older than the retention of their width, a limited number per call.
 *
 * Counts are added at most once: if the connection breaks during a call, its counts may be lost.
 */
import { addLatencies, type Latencies, noLatencies } from "../domain/latency.ts";

/** Widths of buckets, from fine to coarse. Finer buckets are kept for a shorter time. */
export const BUCKET_WIDTHS_MS = [10_000, 300_000, 3_600_000] as const;
export type BucketWidth = (typeof BUCKET_WIDTHS_MS)[number];

/** Counts of finished work. */
export type WorkCounts = {
  /** Pages fetched and parsed. */
  pages: number;
  /** Leases that ended successfully. */
  done: number;
  /** Leases that ended without a page; the task is retried or dead. */
  failed: number;
  /** The part of `failed` that is not retried. */
  dead: number;
  records: number;
  /** Body bytes, after decompression. */
  bytes: number;
  /** Time from lease to result, of all leases. */
  latencies: Latencies;
};

/** The load at one moment. */
export type FleetGauges = { waiting: number; inFlight: number; workers: number };

export type HistoryBucket = WorkCounts & {
  /** Start of the bucket. */
  at: number;
  /** Undefined if no server set gauges in this bucket. */
  gauges: FleetGauges | undefined;
};

/** Counts for the bucket of the finest width that starts at `at`. */
export type BucketCounts = { at: number; counts: WorkCounts };

export interface HistoryStore {
  add(buckets: readonly BucketCounts[]): Promise<void>;
  setGauges(at: number, gauges: FleetGauges): Promise<void>;
  /** Buckets of one width that start in [from, to), in order. */
  read(width: BucketWidth, from: number, to: number, limit: number): Promise<readonly HistoryBucket[]>;
  /** Removes up to `limit` buckets of a width that start before `before`. Returns the number removed. */
  prune(width: BucketWidth, before: number, limit: number): Promise<number>;
}

export function noWork(): WorkCounts {
  return { pages: 0, done: 0, failed: 0, dead: 0, records: 0, bytes: 0, latencies: noLatencies() };
}

export function addWork(into: WorkCounts, { latencies, ...more }: WorkCounts): void {
  for (const [name, count] of Object.entries(more)) into[name as keyof typeof more] += count;
  addLatencies(into.latencies, latencies);
}

/** Start of the bucket that contains an instant. */
export function bucketStart(instant: number, widthMs: number): number {
  return Math.floor(instant / widthMs) * widthMs;
}
