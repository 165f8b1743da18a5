import { describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";

describe("the system clock", () => {
  it("agrees with the wall clock to the millisecond, and adds fractions", () => {
    const clock = systemClock();
    for (let nth = 0; nth < 10_000; nth++) {
      const before = Date.now();
      const now = clock.now();
      const after = Date.now();
      // A double of this size has a resolution of a quarter of a microsecond.
      expect(now).toBeGreaterThan(before - 0.001);
      expect(now).toBeLessThan(after + 1.001);
    }
  });

  it("never goes back", () => {
    const clock = systemClock();
    let latest = 0;
    for (let nth = 0; nth < 10_000; nth++) {
      const now = clock.now();
      expect(now).toBeGreaterThanOrEqual(latest);
      latest = now;
    }
  });
});
