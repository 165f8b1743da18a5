import { expect, it } from "vitest";
import { missingPartsText } from "./missing-parts.ts";

it("names the start URLs and secrets that a stored definition does not contain", () => {
  const list =
    "The start URLs were submitted as a list of 100,000 URLs. The definition does not contain this list, so enter the URLs again.";
  expect(missingPartsText({ job: { urls: [] }, missing: ["urls"] }, 100_000)).toEqual([list]);
  const more =
    "More start URLs were submitted as a list of 2 URLs. The definition does not contain this list, so enter the URLs again.";
  const secrets = "The definition does not contain these secrets, so enter them again: headers.cookie, webhook.";
  const missing = ["urls", "headers.cookie", "webhook"];
  expect(missingPartsText({ job: { urls: ["https://a.example/"] }, missing }, 3)).toEqual([more, secrets]);
});
