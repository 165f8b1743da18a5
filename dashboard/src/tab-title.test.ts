import { expect, it } from "vitest";
import { tabTitle } from "./tab-title.ts";

it("removes control and bidi characters from the tab title and shortens it", () => {
  expect(tabTitle("books\u202e\u0000 of\n today")).toBe("books of today · Trawl");
  expect(tabTitle("\u2066\u2069")).toBe("Trawl");
  expect(tabTitle("a".repeat(100))).toBe(`${"a".repeat(80)}… · Trawl`);
});
