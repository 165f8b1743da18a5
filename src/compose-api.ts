/** Builds the control plane: which routes there are, who may ask, where it listens. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiDeps } from "./api/api-deps.ts";
import { PAGE } from "./api/dashboard-files.ts";
import { createPulse } from "./api/events/pulse.ts";
import { createHistorySampler } from "./api/history-sampler.ts";
import { createGate } from "./api/keys/gate.ts";
import { createQuotaKeeper } from "./api/quota/quotas.ts";
import type { Route } from "./api/route.ts";
import { dashboardRoutes } from "./api/routes/dashboard.ts";
import { deadRoutes } from "./api/routes/dead.ts";
import { docsRoutes } from "./api/routes/docs.ts";
import { eventRoutes } from "./api/routes/events.ts";
import { explainRoutes } from "./api/routes/explain.ts";
import { fleetRoutes } from "./api/routes/fleet.ts";
import { healthRoutes } from "./api/routes/health.ts";
import { historyRoutes } from "./api/routes/history.ts";
import { jobErrorRoutes } from "./api/routes/job-errors.ts";
import { jobSiteRoutes } from "./api/routes/job-sites.ts";
import { jobRoutes } from "./api/routes/jobs.ts";
import { keyRoutes } from "./api/routes/keys.ts";
import { meRoutes } from "./api/routes/me.ts";
import { metricsRoutes } from "./api/routes/metrics.ts";
import { pageReadingRoutes } from "./api/routes/page-readings.ts";
import { pageRoutes } from "./api/routes/pages.ts";
import { resultRoutes } from "./api/routes/results.ts";
import { scheduleRoutes } from "./api/routes/schedules.ts";
import { scrapeRoutes } from "./api/routes/scrape.ts";
import { siteRoutes } from "./api/routes/sites.ts";
import { traceRoutes } from "./api/routes/trace.ts";
import { webhookRoutes } from "./api/routes/webhooks.ts";
import { isLoopback } from "./api/safety.ts";
import { type ApiServer, createApiServer } from "./api/server.ts";
import { createServerMeter, type ServerMeter } from "./api/server-meter.ts";
import type { Trawl } from "./compose.ts";
import { extractorOf } from "./compose-extractor.ts";
import type { Config } from "./config/schema.ts";
import { TrawlError } from "./errors.ts";
import { createGuardedExtractor } from "./extract/guarded-extractor.ts";
import { decodeBody } from "./fetch/http/charset.ts";
import { withSharedLooks } from "./frontier/shared-looks.ts";
import type { Retention } from "./retain/retention.ts";
import type { Service } from "./runtime/service.ts";

/** Without keys, whoever reaches the server may do everything: so only this machine reaches it. Throws BAD_CONFIG. */
export async function composeApi(
  config: Config,
  trawl: Trawl,
  { nudge: onDeleted }: Pick<Retention, "nudge">,
): Promise<ApiServer & { meter: ServerMeter }> {
  const { apiHost: host, apiPort: port, apiBodyBytes: bodyBytes, graceMs, apiKeys } = config;
  const { store, bodies, catalogue, clock, log } = trawl;
  const meter = createServerMeter(trawl);
  const frontier = withSharedLooks(meter.intake(trawl.frontier), clock, SHARED_LOOKS);
  const isLocal = isLoopback(host);
  if (!isLocal && apiKeys.length === 0 && !(await store.keys.hasAny())) throw wouldBeOpen(host);
  const gate = createGate({ keys: store.keys, clock, log }, { fixed: apiKeys, isLocal });
  await gate.isOpen(); // known before the first request
  const checkRules: ApiDeps["checkRules"] = (spec) => void extractorOf(spec);
  const quotas = createQuotaKeeper({ owners: store.owners, keys: store.keys, frontier, clock });
  const guarded = createGuardedExtractor({ ...READING, timeoutMs: config.apiTryRulesMs });
  const deps: ApiDeps = {
    frontier,
    store,
    bodies,
    catalogue,
    onDeleted,
    config,
    clock,
    log,
    openTracing: trawl.openTracing,
    quotas,
    forgetKey: gate.forget,
    checkRules,
    readPage: (choice, page, body, asker) =>
      guarded.extract(choice, { page, html: decodeBody(body, page.contentType).text }, asker),
  };
  const server: ApiServer = createApiServer(
    { routes: routesOf(deps, meter, () => server.isDraining()), gate, meter, tracing: await trawl.openTracing(), log },
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

/** Where the build puts it: the same folder from dist as from src. */
const DASHBOARD = fileURLToPath(new URL("../dist/dashboard", import.meta.url));
/** Whether a browser finds anything at the server's address. */
export const hasDashboard = (): boolean => existsSync(join(DASHBOARD, PAGE));
/** Of those who try rules on a page; how long a page may take is a setting. */
const READING = { idleMs: 60_000, ordersMost: 20, ordersOfOneMost: 5 };
/** Of what is dear to look up a broker is asked for a twentieth of the time, however many look on. */
const SHARED_LOOKS = { restTimes: 20, ageMostMs: 60_000, most: 100 };
/** As wide as the narrowest slot of history. */
const SAMPLE_EVERY_MS = 10_000;

/** What a server notes of the fleet while it runs. */
export function composeSampler({ frontier, store, clock, log }: Trawl): Service {
  return createHistorySampler({ frontier, history: store.history, clock, log }, { everyMs: SAMPLE_EVERY_MS });
}

/** How often jobs are looked at while somebody follows them. */
const LOOK_EVERY_MS = 500;
/** The same where somebody waits for one page. */
const SCRAPE_LOOK_EVERY_MS = 50;

/** Every route there is. */
export function routesOf(deps: ApiDeps, meter: Pick<ServerMeter, "text">, isDraining: () => boolean): Route[] {
  const routes = [
    ...jobRoutes(deps),
    ...webhookRoutes(deps),
    ...jobSiteRoutes(deps),
    ...jobErrorRoutes(deps),
    ...explainRoutes(deps),
    ...traceRoutes(deps),
    ...resultRoutes(deps),
    ...pageRoutes(deps),
    ...pageReadingRoutes(deps),
    ...deadRoutes(deps),
    ...fleetRoutes(deps),
    ...historyRoutes(deps),
    ...siteRoutes(deps),
    ...scrapeRoutes(deps, createPulse(deps, { everyMs: SCRAPE_LOOK_EVERY_MS })),
    ...eventRoutes(deps, createPulse(deps, { everyMs: LOOK_EVERY_MS })),
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
    message: `TRAWL_API_HOST is ${host}, and there are no keys: anybody who reaches this machine could submit jobs; make a key first (trawl keys add), or listen on 127.0.0.1`,
    detail: { host },
  });
}
