/** Builds a worker with its fetchers, robots policy and webhook delivery. */
import { resolveExits } from "../config/resolve-exits.ts";
import type { Config } from "../config/schema.ts";
import { createSecretResolver } from "../config/secret-reference.ts";
import { jobOut } from "../control/views/job.ts";
import { createSitemapReader } from "../discover/sitemap/read-sitemap.ts";
import { createDirectRule } from "../domain/no-proxy.ts";
import { regionOfQueue } from "../domain/queue-name.ts";
import { MAX_ROBOTS_LENGTH, productToken } from "../domain/robots.ts";
import { compileRules } from "../extract/compile-rules.ts";
import { needsBrowser } from "../extract/needs-browser.ts";
import type { BrowserFetcherDeps } from "../fetch/browser/browser-fetcher.ts";
import { getChromium } from "../fetch/browser/find-chromium.ts";
import { createEgressGate } from "../fetch/egress/gate.ts";
import { createHealthBoard } from "../fetch/exit/health-board.ts";
import { createSpending } from "../fetch/exit/spending.ts";
import type { Fetcher } from "../fetch/fetcher.ts";
import { decodeBody } from "../fetch/http/charset.ts";
import { createHttpFetcher, type HttpFetcher } from "../fetch/http/http-fetcher.ts";
import { createHttpPoster } from "../fetch/http/http-poster.ts";
import type { RobotsPolicy } from "../fetch/robots.ts";
import { createRobotsPolicy } from "../fetch/robots-policy.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { createLoopMeter } from "../runtime/loop-meter.ts";
import { mayBeAlive, supervisedProcess, thisProcess } from "../runtime/process-identity.ts";
import { MB_BYTES } from "../runtime/process-memory.ts";
import { createProcessMetrics } from "../runtime/process-metrics.ts";
import type { Tracing } from "../runtime/tracing.ts";
import { createLogIn } from "../session/log-in.ts";
import { createSessionStore } from "../session/session-store.ts";
import { loadSpider } from "../spider/load-spider.ts";
import { spiderHash } from "../spider/spider-hash.ts";
import { createSpiderReader } from "../spider/spider-reader.ts";
import { VERSION } from "../version.ts";
import { createDeliverer } from "../webhook/deliver.ts";
import { createNotifier } from "../webhook/notifier.ts";
import type { QueueLimit } from "../worker/loop/queue-limits.ts";
import { createWorkerMeter, type WorkerMeter } from "../worker/observe/worker-meter.ts";
import { createPacer } from "../worker/pace/pacer.ts";
import type { Pacer } from "../worker/pace/pacer-interface.ts";
import { createJobCache } from "../worker/task/job-cache.ts";
import { createPlanMaker } from "../worker/task/make-plan.ts";
import { createPageMemoryBatcher } from "../worker/task/page-memory-batcher.ts";
import { createScriptedSites } from "../worker/task/scripted-sites.ts";
import { createWorker, type Worker } from "../worker/worker.ts";
import { type App, type NewWorker, networksFrom } from "./app.ts";
import { extractorOf } from "./extractor.ts";

/**
 * The delay before a robots.txt that could not be fetched may be requested again. The backoff of the site is longer, so
 * the next task of the site requests it.
 */
const ROBOTS_UNREACHABLE_MS = 500;
const ROBOTS_REDIRECTS = 5;
const KEEP_ALIVE_MS = 10_000;

/** How long a worker caches whether a site is scripted. */
const SCRIPTED_CACHE_MS = 5_000;

/** How often jobs with webhooks are checked for events. */
const NOTIFY_EVERY_MS = 1_000;

/** The start timeout of the browser: longer than a start takes on a busy machine. */
const LAUNCH_MS = 30_000;
const CLOSE_MS = 5_000;

/** Builds a worker from components that are already open. Call `close` after the worker has stopped. */
export function composeWorker(
  config: Config,
  parts: Pick<App, "clock" | "log" | "frontier" | "store" | "bodies" | "spool" | "requestBodies" | "catalogue"> & {
    tracing: Tracing;
  },
  {
    queues,
    allowHosts,
    mayUseAllSecrets,
    unreadableJob,
    onFinished,
    onSelector,
    observer,
    maxTasks,
    supervisor,
    commands,
    maxMemoryMb,
  }: NewWorker,
): { worker: Worker; close(): Promise<void> } {
  const { frontier, clock } = parts;
  const meter = createWorkerMeter();
  const concurrency = concurrencyFor(queues, config);
  const name = supervisor === undefined ? thisProcess() : supervisedProcess();
  const pacer = createPacer({ frontier, clock }, { worker: name, concurrency });
  const fetching = createFetching(config, { allowHosts, clock, log: parts.log, frontier, pacer, meter });
  const jobs = createJobCache({
    frontier,
    makePlan: createPlanMaker({
      makeExtractor: extractorOf,
      loadSpider,
      hashSpider: spiderHash,
      resolveSecret: createSecretResolver(mayUseAllSecrets ? "all" : config.secrets),
      requestBodyBytes: config.requestBodyBytes,
      version: VERSION,
      makeSpiderReader: (spider, inScope) =>
        createSpiderReader(spider, inScope, { handlerMs: config.handlerMs, bodySettings: config, onSelector }),
    }),
  });
  const scriptedSites = createScriptedSites(parts, { memoryMs: config.renderMemoryMs, cacheMs: SCRIPTED_CACHE_MS });
  const sessions = createSessionStore({ values: frontier, clock, log: parts.log });
  const worker = createWorker(
    {
      ...fetching,
      ...parts,
      pacer,
      ...createWebhookParts(config, parts, fetching.fetcher),
      decode,
      needsBrowser,
      readSitemap: createSitemapReader(),
      scriptedSites,
      recall: createPageMemoryBatcher(parts.store),
      marks: frontier,
      sessions,
      logIn: createLogIn({ values: frontier, clock }),
      readFields,
      jobs,
      mayBeAlive,
      onFinished,
      observer,
      meter,
      processMetrics: createProcessMetrics(),
      rssBytes: process.memoryUsage.rss,
      eventLoopUse: createLoopMeter(),
      onCommand: (command) => commands?.received(command),
    },
    {
      ...workerOptions(config),
      concurrency,
      queueLimits: queueLimitsFor(queues, config),
      queues,
      unreadableJob,
      maxTasks,
      worker: name,
      supervisor,
      commands: commands?.accepted ?? [],
      maxMemoryBytes: (maxMemoryMb ?? Number.POSITIVE_INFINITY) * MB_BYTES,
      version: VERSION,
    },
  );
  const stop = async (): Promise<void> => {
    await worker.stop();
    // So that the report of a crawl is complete, and another worker finds the cookies.
    await Promise.all([fetching.flush(), sessions.flush()]);
  };
  return { worker: { ...worker, stop }, close: fetching.close };
}

/** The components that queue and post webhook events. */
function createWebhookParts(
  config: Config,
  { clock, log, frontier, store, catalogue }: Pick<App, "clock" | "log" | "frontier" | "store" | "catalogue">,
  client: Pick<HttpFetcher, "send">,
) {
  const { webhooks } = store;
  const poster = createHttpPoster({ client, clock });
  return {
    deliver: createDeliverer({ webhooks, poster, clock }, { timeoutMs: config.webhookTimeoutMs }),
    notifier: createNotifier(
      { webhooks, store, frontier, findJob: catalogue.find, clock, log, config, showJob: jobOut },
      { everyMs: NOTIFY_EVERY_MS },
    ),
  };
}

type Fetching = {
  fetcher: HttpFetcher;
  renderer: Fetcher;
  robots: RobotsPolicy;
  /** Writes the health of proxies and the costs of jobs to the broker. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** The fetchers. The pacer decides when their requests are sent. */
export function createFetching(
  config: Config,
  {
    allowHosts,
    clock,
    log,
    frontier,
    pacer,
    meter,
  }: {
    allowHosts: readonly string[];
    clock: Clock;
    log: Log;
    frontier: Pick<Frontier, "findRobots" | "keepRobots" | "findValue" | "keepValue">;
    pacer: Pick<Pacer, "allowance" | "slowDown">;
    meter: Pick<WorkerMeter, "ask" | "browser" | "proxied">;
  },
): Fetching {
  const gate = createEgressGate({}, { allowHosts, allowNetworks: networksFrom(config), connectMs: config.idleMs });
  const exits = { ...createExits(config, { clock, log, frontier }), count: meter.proxied };
  const fetcher = createHttpFetcher(
    { gate, allowance: pacer.allowance, clock, exits },
    { userAgent: config.userAgent, connectionsPerSite: config.concurrency, keepAliveMs: KEEP_ALIVE_MS },
  );
  const { totalMs, idleMs } = config;
  const robots = createRobotsPolicy(
    { fetcher: meter.ask(fetcher, "robots"), frontier: slowedByRobots(frontier, pacer), clock },
    {
      productToken: productToken(config.userAgent),
      grouping: config.siteGrouping,
      freshMs: config.robotsFreshMs,
      unreachableMs: ROBOTS_UNREACHABLE_MS,
      maxCrawlDelayMs: config.maxCrawlDelayMs,
      maxRedirects: ROBOTS_REDIRECTS,
      limits: { totalMs, idleMs, bodyBytes: MAX_ROBOTS_LENGTH },
    },
  );
  const findExit = (id: string) => exits.exits.find((exit) => exit.id === id);
  const renderer = createRenderer(config, { documents: fetcher, findExit, gate, clock, log, watch: meter.browser });
  const close = async (): Promise<void> => {
    await Promise.all([renderer.close(), fetcher.close()]);
  };
  const flush = async (): Promise<void> => {
    await Promise.all([exits.board.flush(), exits.spending.flush()]);
  };
  return { fetcher, renderer, robots, flush, close };
}

/** How often the health of proxies and the costs of jobs are written to the broker. */
const EXIT_FLUSH_MS = 2_000;

/** The proxies and gateways of the settings, with their health and costs, which the fleet shares. */
function createExits(
  config: Config,
  { clock, log, frontier }: { clock: Clock; log: Log; frontier: Pick<Frontier, "findValue" | "keepValue"> },
) {
  const { proxies, region } = config;
  const exits = resolveExits(proxies).filter((exit) => region === "any" || (exit.region ?? region) === region);
  if (proxies.some(({ environment }) => environment !== undefined)) {
    const labels = exits.map(({ label }) => label);
    log.info("exits.from_environment", { proxies: labels, variables: "HTTP_PROXY, HTTPS_PROXY, NO_PROXY" });
  }
  const deps = { values: frontier, clock, log };
  return {
    exits,
    isDirect: createDirectRule(proxies),
    board: createHealthBoard(deps, { flushMs: EXIT_FLUSH_MS, maxSites: 5_000, flushSites: 50 }),
    spending: createSpending(deps, { flushMs: EXIT_FLUSH_MS }),
    random: Math.random,
  };
}

/** Wraps the frontier, so that a new crawl-delay applies to the current term too. */
function slowedByRobots(
  frontier: Pick<Frontier, "findRobots" | "keepRobots">,
  pacer: Pick<Pacer, "slowDown">,
): Pick<Frontier, "findRobots" | "keepRobots"> {
  return {
    findRobots: (site) => frontier.findRobots(site),
    async keepRobots(site, robots, crawlDelayMs) {
      pacer.slowDown(site, crawlDelayMs);
      await frontier.keepRobots(site, robots, crawlDelayMs);
    },
  };
}

/** Finds, loads and starts the browser when the first page needs one. Most processes never need one. */
function createRenderer(config: Config, deps: BrowserFetcherDeps): Fetcher {
  let made: Promise<Fetcher> | undefined;
  async function make(): Promise<Fetcher> {
    const { createBrowserFetcher } = await import("../fetch/browser/browser-fetcher.ts");
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

/** The options of the browser. Throws BROWSER_UNAVAILABLE if no browser is found. */
function browserOptions({ chromium, browserSandbox, tabs, pagesPerBrowser, userAgent }: Config) {
  const hasSandbox = browserSandbox === "auto" ? process.getuid?.() !== 0 : browserSandbox === "on";
  const executablePath = getChromium(chromium);
  return { executablePath, hasSandbox, tabs, pagesPerBrowser, userAgent, launchMs: LAUNCH_MS, closeMs: CLOSE_MS };
}

/** Reads fields of a page by rules, for logins. */
function readFields(rules: Readonly<Record<string, string>>, { url, html }: { url: string; html: string }) {
  const page = { url, status: 200, headers: {}, contentType: "text/html", bodyBytes: 0, fetchedAt: 0, tookMs: 0 };
  return compileRules(rules, { links: undefined, parser: "fast" })({ page, html }).records[0] ?? {};
}

/** Decodes a page with its declared or detected charset. */
function decode(body: Buffer, contentType: string | undefined): string {
  return decodeBody(body, contentType).text;
}

/** A worker that serves only the queue `render` leases at most as many tasks as it has tabs. */
function concurrencyFor(queues: readonly string[], { concurrency, tabs }: Config): number {
  return queues.every(isRenderQueue) ? Math.min(concurrency, tabs) : concurrency;
}

/** A worker that also serves other queues runs at most as many render tasks at once as it has tabs. */
function queueLimitsFor(queues: readonly string[], { concurrency, tabs }: Config): QueueLimit[] {
  const [rendered, others] = [true, false].map((isRendered) =>
    queues.filter((queue) => isRenderQueue(queue) === isRendered),
  );
  const noLimit = Number.POSITIVE_INFINITY;
  if (!rendered?.length) return [{ queues, tasks: noLimit }];
  if (!others?.length || concurrency <= tabs) return [{ queues, tasks: Math.min(concurrency, tabs) }];
  return [
    { queues: rendered, tasks: tabs },
    { queues: others, tasks: noLimit },
  ];
}

function isRenderQueue(queue: string): boolean {
  return regionOfQueue(queue).name === "render";
}

function workerOptions(config: Config) {
  const { concurrency, leaseMs, graceMs, flushMs, totalMs, idleMs, redirects, maxLinks, recrawlBytes } = config;
  // The supervisor enforces the hard limit on a blocked process. A process that is not blocked aborts its tasks itself.
  const timeLimitMs = Math.min(config.softTimeLimitMs, config.timeLimitMs);
  const limits = { totalMs, idleMs };
  const chain = { maxLinks, maxRedirects: redirects, recrawlBytes, limits };
  return { concurrency, leaseMs, graceMs, flushMs, timeLimitMs, ...chain };
}
