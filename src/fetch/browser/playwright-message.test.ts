import { expect, it } from "vitest";
import { playwrightMessage } from "./playwright-message.ts";

it("keeps only the readable part of a Playwright error", () => {
  const message =
    "page.waitForSelector: Unexpected end of selector\nCall log:\n\u001b[2m  - waiting for h1[\u001b[22m\n    at eval (eval at evaluate (:370:30), <anonymous>:1:1)";

  expect(playwrightMessage(new Error(message))).toBe("page.waitForSelector: Unexpected end of selector");
  expect(playwrightMessage("odd")).toBe("odd");
});
