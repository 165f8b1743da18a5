import { expect, it } from "vitest";
import { zoneProblem } from "./schedule-draft.ts";

it("reports an unknown time zone", () => {
  expect(["", "UTC", " Europe/Berlin "].map(zoneProblem)).toEqual([undefined, undefined, undefined]);
  expect(zoneProblem("Mars/Olympus")).toMatch(/^Unknown time zone "Mars\/Olympus"/);
});
