/** Sites, which all jobs share: what they get, and an operator's word on them. All of it takes the scope admin. */
import { z } from "zod";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { formatRate, parseRate } from "../../domain/rate.ts";
import { productToken } from "../../domain/robots.ts";
import { siteOf } from "../../domain/site.ts";
import { TrawlError } from "../../errors.ts";
import type { FrontierAdmin, SiteView } from "../../frontier/frontier-admin.ts";
import { rate } from "../../submit/job-schema.ts";
import type { ApiDeps } from "../api-deps.ts";
import { fromCursor, toCursor } from "../cursor.ts";
import { defineRoute, type Route } from "../route.ts";
import { siteOut, siteSchemaOut, siteWordSchemaOut } from "../wire-fleet.ts";
import { siteDetailOut, siteDetailSchemaOut } from "../wire-sites.ts";

const TAG = "Fleet";
const named = z.strictObject({ site: z.string().min(1).max(300) });
const policy = z.strictObject({
  rate,
  burst: z.int().min(1).max(1000).optional(),
  perSite: z.int().min(1).max(1000).optional(),
});
/** Rows are small, and whoever looks at all of a hundred thousand should not have to ask too often. */
const listing = z.strictObject({
  limit: z.coerce.number().int().min(1).max(5_000).default(50),
  cursor: z.string().max(2_000).optional(),
  q: z.string().max(300).optional().describe("Only sites whose name has this in it."),
  sort: z.enum(["name", "waiting"]).default("name"),
});

export function siteRoutes({ frontier, clock, config }: ApiDeps): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/sites",
      scope: "admin",
      tag: TAG,
      summary: "Sites, what they get, and when the next request may go",
      says: "By name, or with `sort=waiting` those for which most waits first, 500 of them at most, without the others.",
      query: listing,
      answers: {
        200: {
          says: "`next` is null after the last.",
          json: z.strictObject({ sites: z.array(siteSchemaOut), next: z.string().nullable() }),
        },
      },
      async handle({ query }) {
        const { found, next } = await listed(frontier, query);
        return { status: 200, body: { sites: found.map((site) => siteOut(site, clock.now())), next } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/sites/:site",
      scope: "admin",
      tag: TAG,
      summary: "All there is to know of one site: whose word it follows, its robots.txt, who waits there",
      params: named,
      answers: { 200: { says: "As it is now.", json: siteDetailSchemaOut } },
      async handle({ params }) {
        const name = params.site.startsWith("#") ? params.site : siteNamed(params.site);
        const [site, robots] = await Promise.all([frontier.findSite(name), frontier.findRobots(name)]);
        if (site === undefined) throw unmet(name);
        const agent = productToken(config.userAgent);
        return { status: 200, body: siteDetailOut(site, robots, { now: clock.now(), agent }) };
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

async function listed(
  frontier: Pick<FrontierAdmin, "listSites" | "listBusySites">,
  { limit, cursor, q, sort }: z.output<typeof listing>,
): Promise<{ found: readonly SiteView[]; next: string | null }> {
  const part = q?.trim().toLowerCase();
  if (sort === "waiting") return { found: await frontier.listBusySites(limit, part), next: null };
  const after = cursor === undefined ? undefined : String(fromCursor(cursor, ["site"]).site);
  const found = await frontier.listSites(limit, after, part);
  const last = found.length < limit ? undefined : found.at(-1);
  return { found, next: last === undefined ? null : toCursor({ site: last.site }) };
}

function unmet(site: string): TrawlError {
  return new TrawlError("NOT_FOUND", { op: "api.sites", message: `no job here has met the site ${site}` });
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
