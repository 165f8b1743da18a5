import { describe, expect, it } from "vitest";
import { restartDelayMs, wasUseful } from "./restart-delay.ts";

describe("the delay before a process is replaced", () => {
  it("doubles with each failure at start, up to 30 seconds", () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 2000].map(restartDelayMs)).toEqual([
      0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
    ]);
  });

  it("applies only to processes that did no useful work", () => {
    expect(wasUseful({ ranMs: 500, tasksEnded: 0 })).toBe(false);
    expect(wasUseful({ ranMs: 500, tasksEnded: 1 })).toBe(true);
    expect(wasUseful({ ranMs: 10_000, tasksEnded: 0 })).toBe(true);
  });
});
