import { describe, expect, it } from "vitest";
import { noted, paceOf, type Sample } from "./pace.ts";

/** Looked at every second, of a count that is asked for every so many. */
function watched(seconds: number, everySeconds: number, pagesAt: (second: number) => number): number[] {
  let samples: readonly Sample[] = [];
  return Array.from({ length: seconds }, (_, second) => {
    const heardAt = second - (second % everySeconds);
    samples = noted(samples, { at: second * 1_000, pages: pagesAt(heardAt), ended: pagesAt(heardAt) });
    return paceOf(samples).pages ?? -1;
  });
}

describe("the pace of a job", () => {
  it.each([1, 5])("is steady where pages come steadily, and their count every %d s", (everySeconds) => {
    const paces = watched(60, everySeconds, (second) => 50 * second).slice(15);

    expect(new Set(paces)).toEqual(new Set([50]));
  });

  it("does not leap where a page comes only now and then", () => {
    const paces = watched(180, 1, (second) => Math.floor(second / 7)).slice(60);

    for (const pace of paces) expect(Math.abs(pace - 1 / 7)).toBeLessThan(0.03);
  });

  it("follows soon where a fast job becomes slower", () => {
    const paces = watched(60, 1, (second) => 50 * Math.min(second, 30) + 4 * Math.max(0, second - 30));

    expect(paces[29]).toBeCloseTo(50, 0);
    expect(paces[45]).toBeCloseTo(4, 0);
  });

  it("comes down to nothing where nothing comes any more", () => {
    expect(watched(60, 5, (second) => 50 * Math.min(second, 20)).at(-1)).toBe(0);
  });
});
