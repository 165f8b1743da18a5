/**
 * What a rendered page costs in a browser that stays, and in one that is started for it: CPU of every process involved
 * and wall time, page by page in turns, so that a busy machine is as busy for both.
 */
import { readdirSync, readFileSync } from "node:fs";
import { PLAIN_BROWSER } from "../../src/domain/browser.ts";
import { createBrowserFetcher } from "../../src/fetch/browser/browser-fetcher.ts";
import { findGroup } from "../../src/fetch/browser/watchdog.ts";
import { parseNetworks } from "../../src/fetch/egress/address.ts";
import { createEgressGate } from "../../src/fetch/egress/gate.ts";
import type { Fetcher } from "../../src/fetch/fetcher.ts";
import { createHttpFetcher } from "../../src/fetch/http/http-fetcher.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";

export type Cost = { cpuSeconds: number; wallSeconds: number };
export type Comparison = { kept: Cost; launched: Cost; cpuRatio: number; wallRatio: number; pages: number };

export type CompareOptions = { executablePath: string; hasSandbox: boolean; pages: number };

type Arm = { fetcher: Fetcher; close(): Promise<void>; folder(): string };

const TICKS_PER_SECOND = 100;
const ANY_TIME = { sendAt: 0, sendBy: Number.MAX_SAFE_INTEGER, arrivalAt: 0 };

/** `urlOf` names another page each time. */
export async function compareLaunches(urlOf: (nth: number) => string, options: CompareOptions): Promise<Comparison> {
  const kept = openArm(options, Number.POSITIVE_INFINITY);
  const launched = openArm(options, 1);
  const sums = { kept: none(), launched: none() };
  try {
    await render(kept, urlOf(1)); // the one start that a kept browser has is not what is asked about
    for (let nth = 1; nth <= options.pages; nth++) {
      add(sums.kept, await costOf(kept, urlOf(nth), "goes on"));
      add(sums.launched, await costOf(launched, urlOf(nth), "is new"));
    }
  } finally {
    await kept.close();
    await launched.close();
  }
  return {
    ...sums,
    pages: options.pages,
    cpuRatio: sums.kept.cpuSeconds / sums.launched.cpuSeconds,
    wallRatio: sums.kept.wallSeconds / sums.launched.wallSeconds,
  };
}

function openArm({ executablePath, hasSandbox }: CompareOptions, pagesPerBrowser: number): Arm {
  const gate = createEgressGate(
    {},
    { allowNetworks: parseNetworks("127.0.0.0/8").networks, allowHosts: [], connectMs: 5_000 },
  );
  const clock = systemClock();
  const userAgent = "Trawl/bench";
  const documents = createHttpFetcher(
    { gate, clock, allowance: { spend: async () => ANY_TIME } },
    { userAgent, connectionsPerSite: 1, keepAliveMs: 10_000 },
  );
  let folder = "";
  const log = createLog("info", (line) => {
    const { event, ...words } = JSON.parse(line) as { event: string; folder?: string };
    if (event === "browser.started") folder = words.folder ?? "";
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

async function costOf(arm: Arm, url: string, browser: "goes on" | "is new"): Promise<Cost> {
  const before = browser === "goes on" ? await browserCpu(arm.folder()) : 0;
  const ownBefore = ownCpu();
  const startedAt = performance.now();
  await render(arm, url);
  const wallSeconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = ownCpu() - ownBefore + (await browserCpu(arm.folder())) - before;
  return { cpuSeconds, wallSeconds };
}

async function render({ fetcher }: Arm, url: string): Promise<void> {
  const outcome = await fetcher.fetch({
    url,
    site: new URL(url).host,
    slot: ANY_TIME,
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

/** Of all processes of a browser, those included that have ended and were waited for. */
async function browserCpu(folder: string): Promise<number> {
  const group = await findGroup(folder);
  const ticks = readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => ticksOf(pid, group));
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}

function ticksOf(pid: string, group: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    return fields[2] === group ? fields.slice(11, 15).reduce((sum, one) => sum + one, 0) : 0;
  } catch {
    return 0; // it has ended meanwhile
  }
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function none(): Cost {
  return { cpuSeconds: 0, wallSeconds: 0 };
}

function add(sum: Cost, { cpuSeconds, wallSeconds }: Cost): void {
  sum.cpuSeconds += cpuSeconds;
  sum.wallSeconds += wallSeconds;
}
