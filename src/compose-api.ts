/** Builds the control plane: which routes there are, who may ask, where it listens. */

import type { ApiDeps } from "./api/api-deps.ts";
import { createPulse } from "./api/events/pulse.ts";
import type { Caller, Route } from "./api/route.ts";
import { deadRoutes } from "./api/routes/dead.ts";
import { docsRoutes } from "./api/routes/docs.ts";
import { eventRoutes } from "./api/routes/events.ts";
import { explainRoutes } from "./api/routes/explain.ts";
import { fleetRoutes } from "./api/routes/fleet.ts";
import { healthRoutes } from "./api/routes/health.ts";
import { jobRoutes } from "./api/routes/jobs.ts";
import { pageRoutes } from "./api/routes/pages.ts";
import { resultRoutes } from "./api/routes/results.ts";
import { scrapeRoutes } from "./api/routes/scrape.ts";
import { isLoopback } from "./api/safety.ts";
import { type ApiServer, createApiServer } from "./api/server.ts";
import type { Trawl } from "./compose.ts";
import { extractorOf } from "./compose-extractor.ts";
import type { Config } from "./config/schema.ts";
import { SCOPES } from "./domain/api-key.ts";
import { TrawlError } from "./errors.ts";

/** Without keys, whoever reaches the server may do everything: so only this machine reaches it. */
const EVERYBODY: Caller = { tenant: undefined, keyId: undefined, scopes: SCOPES };

/** Throws BAD_CONFIG where it would be open to others. */
export function composeApi(config: Config, trawl: Trawl): ApiServer {
  const { apiHost: host, apiPort: port, apiBodyBytes: bodyBytes, graceMs } = config;
  if (!isLoopback(host)) throw wouldBeOpen(host);
  const { frontier, store, bodies, clock, log } = trawl;
  const checkRules: ApiDeps["checkRules"] = (spec) => void extractorOf(spec);
  const deps: ApiDeps = { frontier, store, bodies, config, clock, log, checkRules };
  const server: ApiServer = createApiServer(
    { routes: routesOf(deps, () => server.isDraining()), identify: async () => EVERYBODY, log },
    { host, port, bodyBytes, graceMs, isOpen: true },
  );
  return server;
}

/** How often jobs are looked at while somebody follows them. */
const LOOK_EVERY_MS = 500;
/** The same where somebody waits for one page. */
const SCRAPE_LOOK_EVERY_MS = 50;

/** Every route there is. */
export function routesOf(deps: ApiDeps, isDraining: () => boolean): Route[] {
  const routes = [
    ...jobRoutes(deps),
    ...explainRoutes(deps),
    ...resultRoutes(deps),
    ...pageRoutes(deps),
    ...deadRoutes(deps),
    ...fleetRoutes(deps),
    ...scrapeRoutes(deps, createPulse(deps, { everyMs: SCRAPE_LOOK_EVERY_MS })),
    ...eventRoutes(deps, createPulse(deps, { everyMs: LOOK_EVERY_MS })),
    ...healthRoutes(deps, isDraining),
  ];
  return [...routes, ...docsRoutes(routes)];
}

function wouldBeOpen(host: string): TrawlError {
  return new TrawlError("BAD_CONFIG", {
    op: "serve",
    message: `TRAWL_API_HOST is ${host}, and there are no keys: anybody who reaches this machine could submit jobs; make a key first, or listen on 127.0.0.1`,
    detail: { host },
  });
}
