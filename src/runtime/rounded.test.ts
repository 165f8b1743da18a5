import { expect, it } from "vitest";
import { rounded } from "./rounded.ts";

it("leaves times whole milliseconds, other numbers three decimals, and all else as it is", () => {
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
