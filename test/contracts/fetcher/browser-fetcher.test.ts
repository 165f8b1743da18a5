import { describe } from "vitest";
import { CHROMIUM, openBrowserFetcher } from "../../browser/chromium.ts";
import { describeFetcher } from "./describe-fetcher.ts";

// No gaps. The contract's bodies are not HTML, so the browser hands them through as every fetcher has to; what it makes
// of HTML is proven in test/browser.
describe.skipIf(CHROMIUM === undefined)("with Chromium", () => {
  describeFetcher("browser", openBrowserFetcher({}));
});
