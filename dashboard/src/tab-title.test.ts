import { expect, it } from "vitest";
import { tabTitle } from "./tab-title.ts";

it("names the tab by what can be seen, whatever a job is called", () => {
  expect(tabTitle("books\u202e\u0000 of\n today")).toBe("books of today · Trawl");
  expect(tabTitle("\u2066\u2069")).toBe("Trawl");
  expect(tabTitle("a".repeat(100))).toBe(`${"a".repeat(80)}… · Trawl`);
});
