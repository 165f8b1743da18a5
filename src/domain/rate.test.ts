import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRate, parseRate } from "./rate.ts";

describe("parseRate", () => {
  it.each([
    ["4/s", 250],
    ["200/s", 5],
    ["10/m", 6000],
    ["100/h", 36_000],
    ["0.5/s", 2000],
    ["1 per 3s", 3000],
    ["2/10s", 5000],
    ["5 per minute", 12_000],
    ["1/500ms", 500],
    [" 4 / S ", 250],
    ["1000/d", 86_400],
    ["unlimited", 0],
    ["none", 0],
  ])("reads %j as one request every %d ms", (text, intervalMs) => {
    expect(parseRate(text)).toBe(intervalMs);
  });

  it.each([
    "",
    "0",
    "0/s",
    "4",
    "/s",
    "-1/s",
    "4/",
    "4/x",
    "4/constructor",
    "4pers",
    "1/0s",
    "4/s/s",
    `${"9".repeat(400)}/s`,
  ])("refuses %j", (text) => {
    expect(parseRate(text)).toBeUndefined();
  });
});

describe("formatRate", () => {
  it.each([
    [0, "unlimited"],
    [250, "4/s"],
    [5, "200/s"],
    [6000, "10/m"],
    [36_000, "100/h"],
    [2000, "30/m"],
    [7000, "1 per 7s"],
    [300, "200/m"],
    [7, "142.9/s"],
    [86_400_000, "1 per 86400s"],
  ])("writes %d ms as %s", (intervalMs, text) => {
    expect(formatRate(intervalMs)).toBe(text);
  });

  it("is parsed back to within 0.1 %", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 1e9, noNaN: true }), (intervalMs) => {
        const back = parseRate(formatRate(intervalMs)) ?? Number.NaN;
        expect(Math.abs(back - intervalMs)).toBeLessThanOrEqual(intervalMs / 1000);
      }),
    );
  });
});
