/** Builds the API server with all its routes. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiDeps } from "../api/api-deps.ts";
import { createAuthenticator } from "../api/authenticator.ts";
import { isLoopback } from "../api/browser-security.ts";
import { PAGE } from "../api/dashboard-files.ts";
import { createSharedPoller } from "../api/events/shared-poller.ts";
import { createJobListCache, withChangeListener } from "../api/job-list-cache.ts";
import { createHistorySampler } from "../api/metrics/history-sampler.ts";
import { createServerMeter, type ServerMeter } from "../api/metrics/server-meter.ts";
import type { ApiRoute } from "../api/route.ts";
import { dashboardRoutes } from "../api/routes/dashboard.ts";
import { deadRoutes } from "../api/routes/dead.ts";
import { docsRoutes } from "../api/routes/docs.ts";
import { eventRoutes } from "../api/routes/events.ts";
import { explainRoutes } from "../api/routes/explain.ts";
import { fleetRoutes } from "../api/routes/fleet.ts";
import { healthRoutes } from "../api/routes/health.ts";
import { historyRoutes } from "../api/routes/history.ts";
import { jobErrorRoutes } from "../api/routes/job-errors.ts";
import { jobSiteRoutes } from "../api/routes/job-sites.ts";
import { jobRoutes } from "../api/routes/jobs.ts";
import { keyRoutes, meRoutes } from "../api/routes/keys.ts";
import { metricsRoutes } from "../api/routes/metrics.ts";
import { pageRoutes } from "../api/routes/pages.ts";
import { proxyRoutes } from "../api/routes/proxies.ts";
import { resultRoutes } from "../api/routes/results.ts";
import { scheduleRoutes } from "../api/routes/schedules.ts";
import { scrapeRoutes } from "../api/routes/scrape.ts";
import { siteRoutes } from "../api/routes/sites.ts";
import { traceRoutes } from "../api/routes/trace.ts";
import { webhookRoutes } from "../api/routes/webhooks.ts";
import { type ApiServer, createApiServer } from "../api/server.ts";
import { describeExits } from "../config/resolve-exits.ts";
import type { Config } from "../config/schema.ts";
import { createQuotaKeeper } from "../control/quota/quotas.ts";
import { TrawlError } from "../errors.ts";
import { createGuardedExtractor } from "../extract/guarded-extractor.ts";
import { figuresOf } from "../fetch/exit/figures.ts";
import { readAllHealth } from "../fetch/exit/health-codec.ts";
import { readSpending } from "../fetch/exit/spending.ts";
import { decodeBody } from "../fetch/http/charset.ts";
import { withCachedQueries } from "../frontier/cached-queries.ts";
import type { Retention } from "../retain/retention.ts";
import type { Service } from "../runtime/service.ts";
import type { App } from "./app.ts";
import { checkRules } from "./extractor.ts";

/**
 * Builds the server. Without API keys, every caller has full access, so the server listens only on a loopback address.
 * For any other address, it throws BAD_CONFIG.
 */
export async function composeApi(
  config: Config,
  trawl: App,
  { nudge }: Pick<Retention, "nudge">,
): Promise<ApiServer & { meter: ServerMeter }> {
  const { apiHost: host, apiPort: port, apiBodyBytes: bodyBytes, graceMs, apiKeys } = config;
  const { store, bodies, requestBodies, catalogue, clock, log } = trawl;
  const meter = createServerMeter(trawl);
  // `clock` is not used here, because it stands still after the wall clock was set back.
  const jobList = createJobListCache({ now: () => performance.now() }, JOB_LIST_CACHE);
  const cached = withCachedQueries(meter.intake(trawl.frontier), clock, QUERY_CACHE);
  const frontier = withChangeListener(cached, jobList.clear);
  const isLocal = isLoopback(host);
  if (!isLocal && apiKeys.length === 0 && !(await store.keys.hasAny())) throw wouldBeOpen(host);
  const authenticator = createAuthenticator({ keys: store.keys, clock, log }, { fixed: apiKeys, isLocal });
  await authenticator.isOpen(); // loads the keys before the first request
  const exits = describeExits(config.proxies);
  const quotas = createQuotaKeeper({ owners: store.owners, keys: store.keys, frontier, clock });
  const guarded = createGuardedExtractor({ ...PREVIEW_LIMITS, timeoutMs: config.apiTryRulesMs });
  const deps: ApiDeps = {
    frontier,
    store,
    bodies,
    requestBodies,
    catalogue,
    jobList,
    onDeleted: () => {
      jobList.clear();
      nudge();
    },
    config,
    clock,
    log,
    openTracing: trawl.openTracing,
    quotas,
    forgetKey: authenticator.forget,
    readProxies: async () => figuresOf(await readAllHealth(frontier), exits, clock.now()),
    readSpending: (jobId) => readSpending(frontier, jobId),
    checkRules,
    previewRules: (choice, page, body, requester) =>
      guarded.extract(choice, { page, html: decodeBody(body, page.contentType).text }, requester),
  };
  const server: ApiServer = createApiServer(
    {
      routes: routesOf(deps, meter, () => server.isDraining()),
      authenticator,
      meter,
      tracing: await trawl.openTracing(),
      log,
    },
    { host, port, bodyBytes, graceMs },
  );
  return {
    ...server,
    meter,
    start: () => {
      meter.start();
      return server.start();
    },
    stop: async () => {
      await server.stop();
      await meter.stop();
      await guarded.stop();
    },
  };
}

/** The output folder of the dashboard build. The relative path is the same from src and from dist. */
const DASHBOARD = fileURLToPath(new URL("../../dist/dashboard", import.meta.url));
/** Whether the dashboard is built. */
export const hasDashboard = (): boolean => existsSync(join(DASHBOARD, PAGE));
/** The limits of the thread that previews extraction rules. The time limit is a setting. */
const PREVIEW_LIMITS = { idleMs: 60_000, maxRequests: 20, maxRequestsPerCaller: 5 };
/** Expensive broker queries are cached, so that they run at most 1/20 of the time, however many clients poll. */
const QUERY_CACHE = { reuseFactor: 20, maxAgeMs: 60_000, maxEntries: 100 };
/** docs/api.md states this age. */
const JOB_LIST_CACHE = { maxAgeMs: 100, maxEntries: 20 };
/** The width of the finest history bucket. */
const SAMPLE_EVERY_MS = 10_000;

/** Writes samples of the fleet to the history while the server runs. */
export function composeSampler({ frontier, store, clock, log }: App): Service {
  return createHistorySampler({ frontier, history: store.history, clock, log }, { everyMs: SAMPLE_EVERY_MS });
}

/** How often jobs are polled while a client follows events. */
const POLL_EVERY_MS = 500;
/** How often a job is polled while a client waits for one page. */
const SCRAPE_POLL_EVERY_MS = 50;

function routesOf(deps: ApiDeps, meter: Pick<ServerMeter, "text">, isDraining: () => boolean): ApiRoute[] {
  const routes = [
    ...jobRoutes(deps),
    ...webhookRoutes(deps),
    ...jobSiteRoutes(deps),
    ...jobErrorRoutes(deps),
    ...explainRoutes(deps),
    ...traceRoutes(deps),
    ...resultRoutes(deps),
    ...pageRoutes(deps),
    ...deadRoutes(deps),
    ...fleetRoutes(deps),
    ...proxyRoutes(deps),
    ...historyRoutes(deps),
    ...siteRoutes(deps),
    ...scrapeRoutes(deps, createSharedPoller(deps, { everyMs: SCRAPE_POLL_EVERY_MS })),
    ...eventRoutes(deps, createSharedPoller(deps, { everyMs: POLL_EVERY_MS })),
    ...meRoutes(),
    ...keyRoutes(deps),
    ...scheduleRoutes(deps),
    ...healthRoutes(deps, isDraining),
    ...metricsRoutes(meter, deps.config),
    ...dashboardRoutes(DASHBOARD),
  ];
  return [...routes, ...docsRoutes(routes)];
}

function wouldBeOpen(host: string): TrawlError {
  return new TrawlError("BAD_CONFIG", {
    op: "serve",
    message: `TRAWL_API_HOST is ${host}, and there are no API keys: every client that can reach this address could submit jobs; listen on 127.0.0.1, or create a key first: trawl keys add NAME --scopes admin`,
    detail: { host },
  });
}
