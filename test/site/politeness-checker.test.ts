import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  concurrencyViolations,
  type Interval,
  type RateLimit,
  type RateViolation,
  rateViolations,
} from "./politeness-checker.ts";

/** Applies the rule directly to every window. */
function naiveRateViolators(times: readonly number[], { perSecond, burst, toleranceMs }: RateLimit): number[] {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted.filter((to, j) =>
    sorted.some((from, i) => i < j && j - i + 1 > burst + (perSecond * (to - from + toleranceMs)) / 1000 + 1e-6),
  );
}

function naiveConcurrencyViolations(intervals: readonly Interval[], limit: number) {
  const starts = [...new Set(intervals.map(({ from }) => from))].sort((a, b) => a - b);
  return starts
    .map((at) => ({
      at,
      inFlight: intervals.filter(({ from, to }) => from <= at && at < (to ?? Number.POSITIVE_INFINITY)).length,
    }))
    .filter(({ inFlight }) => inFlight > limit);
}

const limits = fc.record({
  perSecond: fc.constantFrom(0.5, 1, 4, 7, 50),
  burst: fc.integer({ min: 1, max: 5 }),
  toleranceMs: fc.constantFrom(0, 5, 100),
});

describe("rateViolations", () => {
  it("finds no violation if requests keep the rate exactly", () => {
    const times = Array.from({ length: 1000 }, (_, index) => 1.7e12 + index * 250);

    expect(rateViolations(times, { perSecond: 4, burst: 1, toleranceMs: 0 })).toEqual([]);
  });

  it("finds a request that arrived a millisecond early, and returns the window", () => {
    const times = [0, 250, 499, 750].map((ms) => 1.7e12 + ms);

    const violations = rateViolations(times, { perSecond: 4, burst: 1, toleranceMs: 0 });

    expect(violations).toEqual([
      { from: 1.7e12 + 250, to: 1.7e12 + 499, requests: 2, allowed: expect.closeTo(1.996, 9) } satisfies RateViolation,
    ]);
  });

  it("allows a burst after a pause, and not one request more", () => {
    const limit = { perSecond: 1, burst: 3, toleranceMs: 0 };

    expect(rateViolations([0, 0, 0], limit)).toEqual([]);
    expect(rateViolations([0, 0, 0, 0], limit)).toHaveLength(1);
  });

  it("finds a rate that is slightly too high, even if no two consecutive requests show it", () => {
    // 5 % too fast: two consecutive requests are within the tolerance, a long window is not.
    const times = Array.from({ length: 100 }, (_, index) => index * 95);

    expect(rateViolations(times.slice(0, 2), { perSecond: 10, burst: 1, toleranceMs: 10 })).toEqual([]);
    expect(rateViolations(times, { perSecond: 10, burst: 1, toleranceMs: 10 }).length).toBeGreaterThan(0);
  });

  it("accepts a log in any order, and an empty log", () => {
    const limit = { perSecond: 4, burst: 1, toleranceMs: 0 };

    expect(rateViolations([500, 0, 250], limit)).toEqual([]);
    expect(rateViolations([], limit)).toEqual([]);
  });

  it("agrees with the definition on any log", () => {
    const logs = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 60 });
    fc.assert(
      fc.property(logs, limits, (times, limit) => {
        expect(rateViolations(times, limit).map(({ to }) => to)).toEqual(naiveRateViolators(times, limit));
      }),
      { numRuns: 2000 },
    );
  });

  it("reports only windows that violate the rule", () => {
    const logs = fc.array(fc.double({ min: 1.7e12, max: 1.7e12 + 3000, noNaN: true }), { maxLength: 60 });
    fc.assert(
      fc.property(logs, limits, (times, limit) => {
        for (const { from, to, requests, allowed } of rateViolations(times, limit)) {
          expect(times.filter((at) => from <= at && at <= to).length).toBeGreaterThanOrEqual(requests);
          expect(requests).toBeGreaterThan(allowed);
        }
      }),
    );
  });
});

describe("concurrencyViolations", () => {
  it("allows a request to start when another ends", () => {
    const intervals = [
      { from: 0, to: 10 },
      { from: 10, to: 20 },
    ];

    expect(concurrencyViolations(intervals, 1)).toEqual([]);
  });

  it("finds the time at which one request too many is in flight", () => {
    const intervals = [
      { from: 0, to: 10 },
      { from: 5, to: 8 },
      { from: 9, to: 12 },
    ];

    expect(concurrencyViolations(intervals, 1)).toEqual([
      { at: 5, inFlight: 2 },
      { at: 9, inFlight: 2 },
    ]);
    expect(concurrencyViolations(intervals, 2)).toEqual([]);
  });

  it("counts a request without an end as in flight", () => {
    const intervals = [
      { from: 0, to: undefined },
      { from: 1000, to: 1001 },
    ];

    expect(concurrencyViolations(intervals, 1)).toEqual([{ at: 1000, inFlight: 2 }]);
  });

  it("agrees with the definition on any log", () => {
    const interval = fc
      .record({ from: fc.integer({ min: 0, max: 50 }), lasts: fc.option(fc.integer({ min: 0, max: 20 })) })
      .map(({ from, lasts }) => ({ from, to: lasts === null ? undefined : from + lasts }));
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (intervals, limit) => {
        expect(concurrencyViolations(intervals, limit)).toEqual(naiveConcurrencyViolations(intervals, limit));
      }),
      { numRuns: 1000 },
    );
  });
});
