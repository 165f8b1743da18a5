/**
 * Compares the cost of a rendered page in a browser that is kept, in a browser that Trawl starts for the page, and in
 * one that Playwright starts with its defaults. Measures wall time and the CPU time of all processes. The three
 * alternate page by page, so that other load on the machine affects all of them.
 */

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { PLAIN_BROWSER } from "../../src/domain/browser.ts";
import { createBrowserFetcher } from "../../src/fetch/browser/browser-fetcher.ts";
import { parseNetworks } from "../../src/fetch/egress/address.ts";
import { createEgressGate } from "../../src/fetch/egress/gate.ts";
import type { Fetcher } from "../../src/fetch/fetcher.ts";
import { createHttpFetcher } from "../../src/fetch/http/http-fetcher.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";
import { findGroup } from "../../test/browser/processes.ts";

export type Cost = { cpuSeconds: number; wallSeconds: number };
export type Ratios = { cpu: number; wall: number };
export type Comparison = {
  pages: number;
  kept: Cost;
  /** A browser that Trawl starts for each page. */
  launched: Cost;
  /** A browser that Playwright starts for each page, with its default flags. */
  stock: Cost;
  toLaunched: Ratios;
  toStock: Ratios;
};

export type CompareOptions = { executablePath: string; hasSandbox: boolean; pages: number };

type Renderer = { fetcher: Fetcher; close(): Promise<void>; folder(): string };

const TICKS_PER_SECOND = 100;
const UNPACED = { turn: () => undefined, trySend: () => true, unsent: () => {} };

/** `urlOf` returns a different page for each number. */
export async function compareLaunches(urlOf: (nth: number) => string, options: CompareOptions): Promise<Comparison> {
  const kept = openRenderer(options, Number.POSITIVE_INFINITY);
  const launched = openRenderer(options, 1);
  const sums = { kept: none(), launched: none(), stock: none() };
  try {
    await render(kept, urlOf(1)); // the start of the kept browser is not measured
    for (let nth = 1; nth <= options.pages; nth++) {
      add(sums.kept, await costOf(kept, urlOf(nth), "kept"));
      add(sums.launched, await costOf(launched, urlOf(nth), "new"));
      add(sums.stock, await stockCost(urlOf(nth), options));
    }
  } finally {
    await kept.close();
    await launched.close();
  }
  return {
    pages: options.pages,
    ...sums,
    toLaunched: ratios(sums.kept, sums.launched),
    toStock: ratios(sums.kept, sums.stock),
  };
}

function ratios(one: Cost, other: Cost): Ratios {
  return { cpu: one.cpuSeconds / other.cpuSeconds, wall: one.wallSeconds / other.wallSeconds };
}

/** Renders one page in a new browser, like the first example of every Playwright tutorial. */
async function stockCost(url: string, { executablePath, hasSandbox }: CompareOptions): Promise<Cost> {
  const { chromium }: typeof import("playwright-core") = createRequire(import.meta.url)("playwright-core");
  const mark = `--bench-page=${Math.random()}`;
  const ownBefore = ownCpu();
  const startedAt = performance.now();
  const browser = await chromium.launch({ executablePath, args: [mark], chromiumSandbox: hasSandbox });
  const page = await browser.newPage();
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForSelector(".title");
  const html = await page.content();
  const shownSeconds = groupCpu(groupWith(mark));
  const endedBefore = endedCpu();
  await browser.close();
  // The total CPU time is known only for processes that were waited for. Both values are therefore too low: use the
  // larger one.
  const browserSeconds = Math.max(shownSeconds, endedCpu() - endedBefore);
  if (!html.includes("Product")) throw new Error("Playwright did not render the page");
  return { cpuSeconds: ownCpu() - ownBefore + browserSeconds, wallSeconds: (performance.now() - startedAt) / 1000 };
}

function openRenderer({ executablePath, hasSandbox }: CompareOptions, pagesPerBrowser: number): Renderer {
  const gate = createEgressGate(
    {},
    { allowNetworks: parseNetworks("127.0.0.0/8").networks, allowHosts: [], connectMs: 5_000 },
  );
  const clock = systemClock();
  const userAgent = "Trawl/bench";
  const documents = createHttpFetcher(
    { gate, clock, allowance: UNPACED },
    { userAgent, connectionsPerSite: 1, keepAliveMs: 10_000 },
  );
  let folder = "";
  const log = createLog("info", (line) => {
    const entry = JSON.parse(line) as { event: string; folder?: string };
    if (entry.event === "browser.started") folder = entry.folder ?? "";
  });
  const timing = { launchMs: 60_000, closeMs: 10_000 };
  const fetcher = createBrowserFetcher(
    { documents, gate, clock, log },
    { executablePath, hasSandbox, ...timing, pagesPerBrowser, tabs: 1, userAgent },
  );
  return {
    fetcher,
    folder: () => folder,
    close: async () => {
      await fetcher.close();
      await documents.close();
    },
  };
}

async function costOf(renderer: Renderer, url: string, browser: "kept" | "new"): Promise<Cost> {
  const before = browser === "kept" ? await browserCpu(renderer.folder()) : 0;
  const ownBefore = ownCpu();
  const startedAt = performance.now();
  await render(renderer, url);
  const wallSeconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = ownCpu() - ownBefore + (await browserCpu(renderer.folder())) - before;
  return { cpuSeconds, wallSeconds };
}

async function render({ fetcher }: Renderer, url: string): Promise<void> {
  const outcome = await fetcher.fetch({
    url,
    site: new URL(url).host,
    limits: { bodyBytes: 10_000_000, totalMs: 60_000, idleMs: 60_000 },
    headers: {},
    signal: new AbortController().signal,
    show: {
      browser: { ...PLAIN_BROWSER, waitFor: { kind: "selector", selector: ".title" }, settleMs: 30_000 },
      keepsTab: false,
    },
  });
  if (outcome.kind !== "page" || !outcome.body.includes("Product")) throw new Error(`not rendered: ${outcome.kind}`);
}

/** CPU seconds of all processes of a browser, including those that have ended and were waited for. */
async function browserCpu(folder: string): Promise<number> {
  return groupCpu(await findGroup(folder));
}

function groupCpu(group: number | undefined): number {
  const ticks = readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => ticksOf(pid, group));
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}

/** The process group of the browser whose command line contains `mark`. */
function groupWith(mark: string): number | undefined {
  const pid = readdirSync("/proc").find((name) => /^\d+$/.test(name) && commandLine(name).includes(mark));
  return pid === undefined ? undefined : statOf(pid)[2];
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // the process has ended
  }
}

/** The fields of the stat file from the third on, as numbers; NaN if a field is not a number. */
function statOf(pid: string): number[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number);
}

function ticksOf(pid: string, group: number | undefined): number {
  try {
    const fields = statOf(pid);
    return fields[2] === group ? fields.slice(11, 15).reduce((sum, one) => sum + one, 0) : 0;
  } catch {
    return 0; // the process has ended
  }
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** CPU seconds of all descendants of this process that have ended and were waited for. */
function endedCpu(): number {
  const [user = 0, system = 0] = statOf("self").slice(13, 15);
  return (user + system) / TICKS_PER_SECOND;
}

function none(): Cost {
  return { cpuSeconds: 0, wallSeconds: 0 };
}

function add(sum: Cost, { cpuSeconds, wallSeconds }: Cost): void {
  sum.cpuSeconds += cpuSeconds;
  sum.wallSeconds += wallSeconds;
}
