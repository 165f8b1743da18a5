import { expect, it } from "vitest";
import { rounded } from "./log.ts";

it("rounds times to milliseconds and other numbers to three decimals, and does not change other values", () => {
  const value = { tookMs: 1.8195, diedAt: 1794818137218.5361, at: 2.5001, rate: 1.23456, count: 3, url: "a 1.23456" };

  expect(JSON.parse(JSON.stringify(value, rounded))).toEqual({
    tookMs: 2,
    diedAt: 1794818137219,
    at: 3,
    rate: 1.235,
    count: 3,
    url: "a 1.23456",
  });
});
