/**
 * Durations as counts in fixed buckets. Unlike percentiles, counts can be added over processes and over time. There are
 * three buckets per doubling, from 1 ms to 11 min. A percentile computed from them is off by a quarter at most.
 */

/** The first bucket counts durations up to 1 ms. The last bucket has no upper bound. */
export const LATENCY_BUCKETS = 60;

const PER_DOUBLING = 3;

/** Counts, by bucket. */
export type Latencies = number[];

export function noLatencies(): Latencies {
  return new Array<number>(LATENCY_BUCKETS).fill(0);
}

export function latencyBucket(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(LATENCY_BUCKETS - 1, Math.ceil(Math.log2(ms) * PER_DOUBLING));
}

export function addLatencies(into: Latencies, more: readonly number[]): void {
  for (let at = 0; at < LATENCY_BUCKETS; at += 1) into[at] = (into[at] ?? 0) + (more[at] ?? 0);
}

/** The duration that a `share` of all durations, such as 0.95, does not exceed; undefined if nothing was counted. */
export function percentileMs(counts: readonly number[], share: number): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  const rank = share * all;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) return within(at, (rank - below) / count);
    below += count;
  }
  return boundMs(LATENCY_BUCKETS - 1);
}

/**
 * A duration inside a bucket. `part`: its position in the bucket, from 0 to 1. Bounds grow by a constant factor, so the
 * interpolation is exponential.
 */
function within(at: number, part: number): number {
  if (at === 0) return part;
  return boundMs(at - 1) * 2 ** (part / PER_DOUBLING);
}

function boundMs(at: number): number {
  return 2 ** (at / PER_DOUBLING);
}
