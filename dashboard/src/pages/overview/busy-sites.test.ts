import { expect, it } from "vitest";
import { formatRate, parseRate } from "../../../../src/domain/rate.ts";
import { msToClear } from "./busy-sites.tsx";

it("parses every rate format of the API", () => {
  for (const written of ["4/s", "0.5/s", "10/m", "7/m", "1/h", "30/h", "1 per 7s", "1 per 3.5h"]) {
    const intervalMs = parseRate(written) ?? 0;
    const ms = msToClear({ waiting: 100, rate: formatRate(intervalMs) }) ?? Number.NaN;
    expect(Math.abs(ms - 100 * intervalMs)).toBeLessThanOrEqual(intervalMs);
  }
});

it("has no estimate for a site with an unlimited rate", () => {
  expect(msToClear({ waiting: 71_338, rate: formatRate(0) })).toBeUndefined();
});
