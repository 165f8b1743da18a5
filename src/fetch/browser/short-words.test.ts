import { expect, it } from "vitest";
import { shortWords } from "./short-words.ts";

it("keeps of what Playwright says what a person can use", () => {
  const said =
    "page.waitForSelector: Unexpected end of selector\nCall log:\n\u001b[2m  - waiting for h1[\u001b[22m\n    at eval (eval at evaluate (:370:30), <anonymous>:1:1)";

  expect(shortWords(new Error(said))).toBe("page.waitForSelector: Unexpected end of selector");
  expect(shortWords("odd")).toBe("odd");
});
