/**
 * What all jobs share: queues, workers, sites. They show how much everybody has waiting and where, so all of it takes the
 * scope admin; a tenant sees its own share in its jobs.
 */
import { z } from "zod";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { formatRate, parseRate } from "../../domain/rate.ts";
import { siteOf } from "../../domain/site.ts";
import { TrawlError } from "../../errors.ts";
import { rate } from "../../submit/job-schema.ts";
import type { ApiDeps } from "../api-deps.ts";
import { fromCursor, LISTING, toCursor } from "../cursor.ts";
import { defineRoute, type Route } from "../route.ts";
import {
  queueSchemaOut,
  queuesOut,
  siteOut,
  siteSchemaOut,
  siteWordSchemaOut,
  workerOut,
  workerSchemaOut,
} from "../wire-fleet.ts";

const TAG = "Fleet";
const named = z.strictObject({ site: z.string().min(1).max(300) });
const policy = z.strictObject({
  rate,
  burst: z.int().min(1).max(1000).optional(),
  perSite: z.int().min(1).max(1000).optional(),
});
const listing = z.strictObject({
  ...LISTING,
  cursor: z.string().max(2_000).optional(),
});

export function fleetRoutes(deps: ApiDeps): Route[] {
  const { frontier, clock, config } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/queues",
      scope: "admin",
      tag: TAG,
      summary: "What waits on each queue, and how many workers serve it",
      answers: { 200: { says: "By name.", json: z.strictObject({ queues: z.array(queueSchemaOut) }) } },
      async handle() {
        const [queues, workers] = await Promise.all([frontier.listQueues(), frontier.listWorkers()]);
        return { status: 200, body: { queues: queuesOut(queues, workers) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/workers",
      scope: "admin",
      tag: TAG,
      summary: "Who works on this broker, and how they are doing",
      answers: { 200: { says: "By name.", json: z.strictObject({ workers: z.array(workerSchemaOut) }) } },
      handle: async () => ({ status: 200, body: { workers: (await frontier.listWorkers()).map(workerOut) } }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/sites",
      scope: "admin",
      tag: TAG,
      summary: "Sites, what they get, and when the next request may go",
      query: listing,
      answers: {
        200: {
          says: "By name.",
          json: z.strictObject({ sites: z.array(siteSchemaOut), next: z.string().nullable() }),
        },
      },
      async handle({ query: { limit, cursor } }) {
        const after = cursor === undefined ? undefined : String(fromCursor(cursor, ["site"]).site);
        const found = await frontier.listSites(limit, after);
        const last = found.length < limit ? undefined : found.at(-1);
        const next = last === undefined ? null : toCursor({ site: last.site });
        return { status: 200, body: { sites: found.map((site) => siteOut(site, clock.now())), next } };
      },
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/sites/:site",
      scope: "admin",
      tag: TAG,
      summary: "Say what a site gets, whatever its jobs and its robots.txt say",
      says: "Workers keep to it from their next request on. It stays until it is taken back.",
      params: named,
      body: policy,
      example: { rate: "10/m", perSite: 1 },
      answers: { 200: { says: "What it gets from now on.", json: siteWordSchemaOut } },
      async handle({ params, body }) {
        const site = siteNamed(params.site);
        const { burst = config.burst, perSite = config.perSite } = body;
        const intervalMs = parseRate(body.rate) ?? config.rate;
        await frontier.setSitePolicy(site, { intervalMs, burst, perSite });
        return { status: 200, body: { site, rate: formatRate(intervalMs), burst, perSite } };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/sites/:site",
      scope: "admin",
      tag: TAG,
      summary: "Take the operator's word on a site back: it gets what its jobs say again",
      params: named,
      answers: { 200: { says: "Taken back; also where there was none.", json: named } },
      async handle({ params }) {
        const site = siteNamed(params.site);
        await frontier.setSitePolicy(site, undefined);
        return { status: 200, body: { site } };
      },
    }),
  ];
}

/** The site as the frontier names it. Throws BAD_REQUEST. */
function siteNamed(text: string): string {
  const url = /[/?#@\\]/.test(text) ? undefined : canonicalUrl(`http://${text}/`);
  if (url !== undefined) return siteOf(url, "host");
  throw new TrawlError("BAD_REQUEST", {
    op: "api.sites",
    message: `path.site: ${JSON.stringify(text)} is no site; give a host, with its port unless that is 80 or 443, such as a.example:8080`,
  });
}
