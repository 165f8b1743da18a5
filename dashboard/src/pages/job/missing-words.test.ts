import { expect, it } from "vitest";
import { missingWords } from "./missing-words.ts";

it("says that URLs which came as a list are not kept, and what else is to be given anew", () => {
  const list = "Its start URLs came as a list of 100,000, which is not kept with the definition: give them anew.";
  expect(missingWords({ job: { urls: [] }, missing: ["urls"] }, 100_000)).toEqual([list]);
  const more = "More start URLs came as a list of 2, which is not kept with the definition: give them anew.";
  const secrets = "Not shown, and to be given anew: headers.cookie, webhook.";
  const missing = ["urls", "headers.cookie", "webhook"];
  expect(missingWords({ job: { urls: ["https://a.example/"] }, missing }, 3)).toEqual([more, secrets]);
});
