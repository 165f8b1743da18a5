import { expect, it } from "vitest";
import { zoneProblem } from "./sketch.ts";

it("says of a time zone that there is none of that name", () => {
  expect(["", "UTC", " Europe/Berlin "].map(zoneProblem)).toEqual([undefined, undefined, undefined]);
  expect(zoneProblem("Mars/Olympus")).toMatch(/^There is no time zone "Mars\/Olympus"/);
});
