import { describe, expect, it } from "vitest";
import { addSample, type PaceSample, paceOf } from "./pace.ts";

/** Samples a count every second; the count itself is updated only every `everySeconds`. */
function sampledPaces(seconds: number, everySeconds: number, pagesAt: (second: number) => number): number[] {
  let samples: readonly PaceSample[] = [];
  return Array.from({ length: seconds }, (_, second) => {
    const updatedAt = second - (second % everySeconds);
    samples = addSample(samples, { at: second * 1_000, pages: pagesAt(updatedAt), ended: pagesAt(updatedAt) });
    return paceOf(samples).pages ?? -1;
  });
}

describe("the pace of a job", () => {
  it.each([1, 5])("is constant for a constant rate whose count is updated every %d s", (everySeconds) => {
    const paces = sampledPaces(60, everySeconds, (second) => 50 * second).slice(15);

    expect(new Set(paces)).toEqual(new Set([50]));
  });

  it("is stable for a job with only occasional pages", () => {
    const paces = sampledPaces(180, 1, (second) => Math.floor(second / 7)).slice(60);

    for (const pace of paces) expect(Math.abs(pace - 1 / 7)).toBeLessThan(0.03);
  });

  it("adapts quickly when a fast job slows down", () => {
    const paces = sampledPaces(60, 1, (second) => 50 * Math.min(second, 30) + 4 * Math.max(0, second - 30));

    expect(paces[29]).toBeCloseTo(50, 0);
    expect(paces[45]).toBeCloseTo(4, 0);
  });

  it("drops to zero when no more pages arrive", () => {
    expect(sampledPaces(60, 5, (second) => 50 * Math.min(second, 20)).at(-1)).toBe(0);
  });
});
