import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDurationMs } from "./duration.ts";

describe("parseDurationMs", () => {
  it.each([
    ["500ms", 500],
    ["1s", 1000],
    ["2m", 120_000],
    ["24h", 86_400_000],
    ["1d", 86_400_000],
    ["1.5h", 5_400_000],
    ["3m 12s", 192_000],
    ["1h30m", 5_400_000],
    [" 10S ", 10_000],
    ["250", 250],
    [250, 250],
    [0, 0],
    ["0s", 0],
  ])("reads %j as %d ms", (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each([
    "",
    "s",
    "-1s",
    "1w",
    "1 s 2",
    "1e3",
    "1.s",
    "five",
    `${"9".repeat(400)}s`,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])("refuses %j", (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0ms"],
    [-5, "0ms"],
    [820, "820ms"],
    [999.6, "1s"],
    [1500, "1.5s"],
    [9960, "10s"],
    [45_000, "45s"],
    [59_999, "1m"],
    [192_000, "3m 12s"],
    [3_599_999, "1h"],
    [7_500_000, "2h 5m"],
    [86_399_999, "1d"],
    [97_200_000, "1d 3h"],
  ])("writes %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("is parsed back to within half of its smaller unit", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e11, noNaN: true }), (ms) => {
        const slackMs =
          ms < 1000 ? 0.5 : ms < 10_000 ? 50 : ms < 3_600_000 ? 500 : ms < 86_400_000 ? 30_000 : 1_800_000;
        expect(Math.abs((parseDurationMs(formatDuration(ms)) ?? Number.NaN) - ms)).toBeLessThanOrEqual(slackMs + 0.001);
      }),
    );
  });
});
