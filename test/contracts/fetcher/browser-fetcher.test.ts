import { describe } from "vitest";
import { CHROMIUM, openBrowserFetcher } from "../../browser/chromium.ts";
import { describeFetcher } from "./describe-fetcher.ts";

// The browser fetcher has no gaps. The bodies in the contract are not HTML, so the browser returns them unchanged, like
// every fetcher. The tests in test/browser cover HTML.
describe.skipIf(CHROMIUM === undefined)("with Chromium", () => {
  describeFetcher("browser", openBrowserFetcher({}));
});
