import { expect, it } from "vitest";
import { missingPartsText } from "./missing-parts.ts";

it("names the start URLs and secrets that a stored definition does not contain", () => {
  const list =
    "Its start URLs were submitted as a list of 100,000, which is not stored with the definition: enter them again.";
  expect(missingPartsText({ job: { urls: [] }, missing: ["urls"] }, 100_000)).toEqual([list]);
  const more =
    "More start URLs were submitted as a list of 2, which is not stored with the definition: enter them again.";
  const secrets = "Hidden secrets that you must enter again: headers.cookie, webhook.";
  const missing = ["urls", "headers.cookie", "webhook"];
  expect(missingPartsText({ job: { urls: ["https://a.example/"] }, missing }, 3)).toEqual([more, secrets]);
});
