import { describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";

describe("the system's clock", () => {
  it("shows what the wall clock shows, with fractions, and so agrees with that of every other process", () => {
    const clock = systemClock();
    for (let nth = 0; nth < 10_000; nth++) {
      const before = Date.now();
      const now = clock.now();
      const after = Date.now();
      // The sums of such instants are rounded to a quarter of a microsecond.
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
