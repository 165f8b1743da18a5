import { expect, it } from "vitest";
import { addLatencies, LATENCY_BUCKETS, latencyBucket, noLatencies, percentileMs } from "./latency.ts";

function counted(tookMs: readonly number[]): number[] {
  const counts = noLatencies();
  for (const ms of tookMs) counts[latencyBucket(ms)] = (counts[latencyBucket(ms)] ?? 0) + 1;
  return counts;
}

it("computes percentiles within a quarter of the exact value, for any durations", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (const spread of [1, 2, 5]) {
    const times = Array.from({ length: 1_000 }, () => 40 * Math.exp(spread * (random() + random() - 1))).sort(
      (one, other) => one - other,
    );
    for (const share of [0.5, 0.95, 0.99]) {
      const exact = times[Math.ceil(share * times.length) - 1] ?? 0;
      const ratio = (percentileMs(counted(times), share) ?? 0) / exact;
      expect(ratio).toBeGreaterThan(1 / 1.26);
      expect(ratio).toBeLessThan(1.26);
    }
  }
});

it("has no percentile without counts, and a bucket for any duration", () => {
  expect(percentileMs(noLatencies(), 0.5)).toBeUndefined();
  expect([0, -1, Number.NaN, 1].map(latencyBucket)).toEqual([0, 0, 0, 0]);
  expect([2, 8].map(latencyBucket)).toEqual([3, 9]);
  expect(latencyBucket(Number.POSITIVE_INFINITY)).toBe(LATENCY_BUCKETS - 1);
  expect(percentileMs(counted([Number.POSITIVE_INFINITY]), 0.5)).toBeGreaterThan(500_000);
});

it("adds counts, also from a list with fewer buckets", () => {
  const sum = counted([1, 5]);
  addLatencies(sum, [2]);
  expect(sum).toEqual(counted([1, 1, 1, 5]));
});
