import { describe, expect, it } from "vitest";
import { parseDateRange, parseSince } from "./date-range.ts";

const utc = (...parts: [number, number, number?, number?, number?, number?]) => Date.UTC(...parts);

describe("a date", () => {
  it.each([
    ["2026", utc(2026, 0), utc(2027, 0) - 1],
    ["2026-12", utc(2026, 11), utc(2027, 0) - 1],
    [" 2024-02-29\n", utc(2024, 1, 29), utc(2024, 2, 1) - 1],
    ["2026-01-31T10:20Z", utc(2026, 0, 31, 10, 20), utc(2026, 0, 31, 10, 20)],
    ["2026-01-31T10:20:30", utc(2026, 0, 31, 10, 20, 30), utc(2026, 0, 31, 10, 20, 30)],
    ["2026-01-31T10:20:30.123456+02:00", utc(2026, 0, 31, 8, 20, 30), utc(2026, 0, 31, 8, 20, 30)],
    ["2026-01-31 10:20:30 -0530", utc(2026, 0, 31, 15, 50, 30), utc(2026, 0, 31, 15, 50, 30)],
    ["Thu, 05 Jan 2017 13:34:51 +0100", utc(2017, 0, 5, 12, 34, 51), utc(2017, 0, 5, 12, 34, 51)],
    ["05 Jan 17 13:34:54 EST", utc(2017, 0, 5, 18, 34, 54), utc(2017, 0, 5, 18, 34, 54)],
    ["05 Jan 17 13:34:55", utc(2017, 0, 5, 13, 34, 55), utc(2017, 0, 5, 13, 34, 55)],
  ])("%s is a range of time", (text, from, until) => {
    expect(parseDateRange(text)).toEqual({ from, until });
  });

  it.each(["", "soon", "2026-13", "2026-02-30", "2026-00-10", "31/01/2026", "7d", "20260131", "1".repeat(1000)])(
    "%j is none",
    (text) => {
      expect(parseDateRange(text)).toBeUndefined();
    },
  );

  it("or a duration before now is the start of a period", () => {
    const now = utc(2026, 0, 31, 12);
    expect(["7d", "1h 30m", "2026-01-31", "2026-01-31T10:00Z"].map((text) => parseSince(text, now))).toEqual([
      now - 7 * 86_400_000,
      now - 5_400_000,
      utc(2026, 0, 31),
      utc(2026, 0, 31, 10),
    ]);
    expect(["", "soon", "5", "-7d"].map((text) => parseSince(text, now))).toEqual(Array(4).fill(undefined));
  });
});
