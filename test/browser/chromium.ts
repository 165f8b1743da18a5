/** The Chromium that tests render with. */
import { type BrowserSpec, PLAIN_BROWSER } from "../../src/domain/browser.ts";
import { type BrowserFetcherOptions, createBrowserFetcher } from "../../src/fetch/browser/browser-fetcher.ts";
import type { LaunchOptions } from "../../src/fetch/browser/launch-browser.ts";
import { parseNetworks } from "../../src/fetch/egress/address.ts";
import { createEgressGate } from "../../src/fetch/egress/gate.ts";
import { createHttpFetcher } from "../../src/fetch/http/http-fetcher.ts";
import { createLog, type Log } from "../../src/runtime/log.ts";
import type { OpenFetcher } from "../contracts/fetcher/harness.ts";
import { findProgram } from "../services/debian-programs.mjs";

/** The browsers that Trawl knows, the preferred one first. The path is undefined if a browser is not installed. */
export const BROWSERS = (["chromium-headless-shell", "chromium"] as const).map((name) => ({
  name,
  executablePath: findProgram(name)?.command,
}));

/** The path of the preferred installed browser. If it is undefined, `npm test` reports that these tests are skipped. */
export const CHROMIUM: string | undefined = BROWSERS.find((one) => one.executablePath !== undefined)?.executablePath;

export const LAUNCH: LaunchOptions = {
  executablePath: CHROMIUM ?? "/usr/bin/chromium",
  hasSandbox: process.getuid?.() !== 0,
  launchMs: 30_000,
};

const OPTIONS: BrowserFetcherOptions = {
  ...LAUNCH,
  userAgent: "Trawl/test",
  pagesPerBrowser: 100,
  closeMs: 5_000,
  tabs: 4,
};

/** A browser fetcher that may connect to 127.0.0.1, with its HTTP fetcher. */
export function openBrowserFetcher(
  spec: Partial<BrowserSpec>,
  options: Partial<BrowserFetcherOptions> = {},
  log: Log = createLog("silent", () => {}),
): OpenFetcher {
  const show = { browser: { ...PLAIN_BROWSER, settleMs: 3_000, ...spec }, keepsTab: false };
  return ({ allowance, clock }) => {
    const allowNetworks = parseNetworks("127.0.0.0/8").networks;
    const gate = createEgressGate({}, { allowNetworks, allowHosts: [], connectMs: 5_000 });
    const tuning = { userAgent: OPTIONS.userAgent, connectionsPerSite: 4, keepAliveMs: 60_000 };
    const documents = createHttpFetcher({ gate, allowance, clock }, tuning);
    const fetcher = createBrowserFetcher({ documents, gate, clock, log }, { ...OPTIONS, ...options });
    const close = async (): Promise<void> => {
      await Promise.all([fetcher.close(), documents.close()]);
    };
    return { fetch: (request) => fetcher.fetch({ show, ...request }), close };
  };
}
