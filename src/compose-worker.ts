/** The part of compose.ts that fetches and reads pages: a worker, and the way out to the web. */
import { jobOut } from "./api/job-out.ts";
import { type NewWorker, networksFrom, type Trawl } from "./compose.ts";
import { extractorOf } from "./compose-extractor.ts";
import type { Config } from "./config/schema.ts";
import { productToken, ROBOTS_LENGTH_MOST } from "./domain/robots.ts";
import { needsBrowser } from "./extract/needs-browser.ts";
import type { BrowserFetcherDeps } from "./fetch/browser/browser-fetcher.ts";
import { getChromium } from "./fetch/browser/find-chromium.ts";
import { createEgressGate } from "./fetch/egress/gate.ts";
import type { Allowance, Fetcher } from "./fetch/fetcher.ts";
import { decodeBody } from "./fetch/http/charset.ts";
import { createHttpFetcher, type HttpFetcher } from "./fetch/http/http-fetcher.ts";
import { createHttpPoster } from "./fetch/http/http-poster.ts";
import type { RobotsPolicy } from "./fetch/robots.ts";
import { createRobotsPolicy } from "./fetch/robots-policy.ts";
import type { Frontier } from "./frontier/frontier.ts";
import type { Clock } from "./runtime/clock.ts";
import type { Log } from "./runtime/log.ts";
import { createLoopMeter } from "./runtime/loop-meter.ts";
import { mayBeAlive, supervisedProcess, thisProcess } from "./runtime/process-id.ts";
import { MB_BYTES } from "./runtime/process-memory.ts";
import { createProcessMetrics } from "./runtime/process-metrics.ts";
import type { Tracing } from "./runtime/tracing.ts";
import { loadSpider } from "./spider/load-spider.ts";
import { spiderHash } from "./spider/spider-hash.ts";
import { createSpiderReader } from "./spider/spider-reader.ts";
import { VERSION } from "./version.ts";
import { createDeliverer } from "./webhook/deliver.ts";
import { createNotifier } from "./webhook/notifier.ts";
import { createJobBook } from "./worker/job-book.ts";
import { createPlanMaker } from "./worker/make-plan.ts";
import { createRecaller } from "./worker/recaller.ts";
import type { Room } from "./worker/rooms.ts";
import { createScriptedSites } from "./worker/scripted-sites.ts";
import { createWorker, type Worker } from "./worker/worker.ts";
import { createWorkerMeter, type WorkerMeter } from "./worker/worker-meter.ts";

/** A robots.txt that could not be had is asked for again by the site's next task, which the site's back-off spaces. */
const ROBOTS_UNREACHABLE_MS = 500;
const ROBOTS_REDIRECTS = 5;
const KEEP_ALIVE_MS = 10_000;

/** What other workers have found of a site is heard of after this. */
const BELIEVE_MS = 5_000;

/** How often it is looked what has become of jobs that tell somebody. */
const NOTIFY_EVERY_MS = 1_000;

/** Longer than a busy machine takes. */
const LAUNCH_MS = 30_000;
const CLOSE_MS = 5_000;

/** A worker on what is open; close it after it has stopped. */
export function composeWorker(
  config: Config,
  parts: Pick<Trawl, "clock" | "log" | "frontier" | "store" | "bodies" | "parcels" | "catalogue"> & {
    tracing: Tracing;
  },
  { queues, allowHosts, unreadableJob, onFinished, watch, maxTasks, supervisor, orders, maxMemoryMb }: NewWorker,
): { worker: Worker; close(): Promise<void> } {
  const { frontier, clock } = parts;
  const meter = createWorkerMeter();
  const fetching = createFetching(config, { allowHosts, clock, log: parts.log, frontier, meter });
  const book = createJobBook({
    frontier,
    makePlan: createPlanMaker({
      makeExtractor: extractorOf,
      loadSpider,
      hashSpider: spiderHash,
      version: VERSION,
      makeSpiderReader: (spider, inScope) => createSpiderReader(spider, inScope, config),
    }),
  });
  const scriptedSites = createScriptedSites(parts, { memoryMs: config.renderMemoryMs, believeMs: BELIEVE_MS });
  const worker = createWorker(
    {
      ...fetching,
      ...parts,
      ...createTelling(config, parts, fetching.fetcher),
      decode,
      needsBrowser,
      scriptedSites,
      recall: createRecaller(parts.store),
      book,
      mayBeAlive,
      onFinished,
      watch,
      meter,
      processMetrics: createProcessMetrics(),
      rssBytes: process.memoryUsage.rss,
      loopUse: createLoopMeter(),
      onOrder: (order) => orders?.heard(order),
    },
    {
      ...workerOptions(config),
      concurrency: roomFor(queues, config),
      rooms: roomsFor(queues, config),
      queues,
      unreadableJob,
      maxTasks,
      worker: supervisor === undefined ? thisProcess() : supervisedProcess(),
      supervisor,
      obeys: orders?.obeys ?? [],
      memoryMostBytes: (maxMemoryMb ?? Number.POSITIVE_INFINITY) * MB_BYTES,
      version: VERSION,
    },
  );
  return { worker, close: fetching.close };
}

/** What looks after webhooks, and what posts their events. */
function createTelling(
  config: Config,
  { clock, log, frontier, store, catalogue }: Pick<Trawl, "clock" | "log" | "frontier" | "store" | "catalogue">,
  client: Pick<HttpFetcher, "ask">,
) {
  const book = store.webhooks;
  const poster = createHttpPoster({ client, clock });
  return {
    deliver: createDeliverer({ book, poster, clock }, { timeoutMs: config.webhookTimeoutMs }),
    notifier: createNotifier(
      { book, store, frontier, findJob: catalogue.find, clock, log, config, showJob: jobOut },
      { everyMs: NOTIFY_EVERY_MS },
    ),
  };
}

type Fetching = {
  fetcher: HttpFetcher;
  renderer: Fetcher;
  robots: RobotsPolicy;
  allowance: Allowance;
  close(): Promise<void>;
};

/** The way out to the web, on a frontier's allowance. */
export function createFetching(
  config: Config,
  {
    allowHosts,
    clock,
    log,
    frontier,
    meter,
  }: {
    allowHosts: readonly string[];
    clock: Clock;
    log: Log;
    frontier: Pick<Frontier, "spend" | "findRobots" | "keepRobots">;
    meter: Pick<WorkerMeter, "fetch" | "ask" | "browser">;
  },
): Fetching {
  const allowance: Allowance = { spend: (site, unused) => frontier.spend(site, unused) };
  const gate = createEgressGate({}, { allowHosts, allowNetworks: networksFrom(config), connectMs: config.idleMs });
  const fetcher = createHttpFetcher(
    { gate, allowance, clock },
    { userAgent: config.userAgent, connectionsPerSite: config.concurrency, keepAliveMs: KEEP_ALIVE_MS },
  );
  const { totalMs, idleMs } = config;
  const robots = createRobotsPolicy(
    { fetcher: meter.ask(fetcher, "robots"), frontier, allowance, clock },
    {
      productToken: productToken(config.userAgent),
      grouping: config.siteGrouping,
      freshMs: config.robotsFreshMs,
      unreachableMs: ROBOTS_UNREACHABLE_MS,
      maxCrawlDelayMs: config.maxCrawlDelayMs,
      maxRedirects: ROBOTS_REDIRECTS,
      limits: { totalMs, idleMs, bodyBytes: ROBOTS_LENGTH_MOST },
    },
  );
  const renderer = createRenderer(config, { documents: fetcher, gate, clock, log, watch: meter.browser });
  const close = async (): Promise<void> => {
    await Promise.all([renderer.close(), fetcher.close()]);
  };
  const metered = { fetcher: meter.fetch(fetcher, "page"), renderer: meter.fetch(renderer, "render") };
  return { ...metered, robots, allowance, close };
}

/** The browser is looked for, loaded and started when a page first needs one: most processes never do. */
function createRenderer(config: Config, deps: BrowserFetcherDeps): Fetcher {
  let made: Promise<Fetcher> | undefined;
  async function make(): Promise<Fetcher> {
    const { createBrowserFetcher } = await import("./fetch/browser/browser-fetcher.ts");
    return createBrowserFetcher(deps, browserOptions(config));
  }
  return {
    async fetch(request) {
      made ??= make();
      return (await made).fetch(request);
    },
    close: async () => (await made?.catch(() => undefined))?.close(),
  };
}

/** Throws BROWSER_UNAVAILABLE where there is no browser that could be started. */
export function browserOptions({ chromium, browserSandbox, tabs, pagesPerBrowser, userAgent }: Config) {
  const hasSandbox = browserSandbox === "auto" ? process.getuid?.() !== 0 : browserSandbox === "on";
  const executablePath = getChromium(chromium);
  return { executablePath, hasSandbox, tabs, pagesPerBrowser, userAgent, launchMs: LAUNCH_MS, closeMs: CLOSE_MS };
}

/** The page as text, by the charset it claims or shows. */
function decode(body: Buffer, contentType: string | undefined): string {
  return decodeBody(body, contentType).text;
}

/** Where all is rendered, tasks that no tab is free for are better left to other processes. */
function roomFor(queues: readonly string[], { concurrency, tabs }: Config): number {
  return queues.every((queue) => queue === "render") ? Math.min(concurrency, tabs) : concurrency;
}

/** The same where others are served beside: they have all the room that no tab needs. */
function roomsFor(queues: readonly string[], { concurrency, tabs }: Config): Room[] {
  const [shown, others] = [true, false].map((isShown) => queues.filter((queue) => (queue === "render") === isShown));
  if (!shown?.length || !others?.length || concurrency <= tabs) return [{ queues, most: concurrency }];
  return [
    { queues: shown, most: tabs },
    { queues: others, most: concurrency },
  ];
}

function workerOptions(config: Config) {
  const { concurrency, leaseMs, graceMs, flushMs, totalMs, idleMs, redirects, maxLinks, recrawlBytes } = config;
  // A process that is not stuck ends its tasks itself: the hard limit is a soft one as well.
  const timeLimitMs = Math.min(config.softTimeLimitMs, config.timeLimitMs);
  const limits = { totalMs, idleMs };
  const chain = { maxLinks, maxRedirects: redirects, recrawlBytes, limits };
  return { concurrency, leaseMs, graceMs, flushMs, timeLimitMs, ...chain };
}
