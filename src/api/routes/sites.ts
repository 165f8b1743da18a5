/**
 * Sites, and the limits that an operator sets for them. All tenants share sites, so these routes require the scope
 * admin.
 */
import { z } from "zod";
import { siteOut } from "../../control/views/fleet.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { formatRate, parseRate } from "../../domain/rate.ts";
import { productToken } from "../../domain/robots.ts";
import { siteOf } from "../../domain/site.ts";
import { TrawlError } from "../../errors.ts";
import type { FrontierAdmin, SiteView } from "../../frontier/frontier-admin.ts";
import { rate } from "../../submit/job-schema.ts";
import type { ApiDeps } from "../api-deps.ts";
import { fromCursor, toCursor } from "../cursor.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { siteDetailOut, siteDetailSchemaOut, sitePolicySchemaOut, siteSchemaOut } from "../wire/sites.ts";

const TAG = "Fleet";
const named = z.strictObject({ site: z.string().min(1).max(300) });
const policy = z.strictObject({
  rate,
  burst: z.int().min(1).max(1000).optional(),
  perSite: z.int().min(1).max(1000).optional(),
});
/** The maximum of `limit` is higher than in other listings: rows are small, and there may be 100,000 sites. */
const listing = z.strictObject({
  limit: z.coerce.number().int().min(1).max(5_000).default(50),
  cursor: z.string().max(2_000).optional(),
  q: z.string().max(300).optional().describe("Only sites whose name contains this text. Case is ignored."),
  sort: z.enum(["name", "waiting"]).default("name"),
});

export function siteRoutes({ frontier, clock, config }: ApiDeps): ApiRoute[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/sites",
      scope: "admin",
      tag: TAG,
      summary: "List sites, with their rate and next request",
      description:
        "The list is sorted by name. With `sort=waiting`, it contains at most 500 sites with pending URLs, and is sorted by their number, highest first.",
      query: listing,
      responses: {
        200: {
          description: "One page of sites; `next` is null on the last page.",
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
      summary: "Get a site, with its robots.txt and its jobs",
      params: named,
      responses: { 200: { description: "The site.", json: siteDetailSchemaOut } },
      async handle({ params }) {
        const name = params.site.startsWith("#") ? params.site : siteNamed(params.site);
        const [site, robots] = await Promise.all([frontier.findSite(name), frontier.findRobots(name)]);
        if (site === undefined) throw siteNotFound(name);
        const agent = productToken(config.userAgent);
        return { status: 200, body: siteDetailOut(site, robots, { now: clock.now(), agent }) };
      },
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/sites/:site",
      scope: "admin",
      tag: TAG,
      summary: "Set the limits of a site, which override its jobs and robots.txt",
      description:
        "The limits apply until you remove them. If a worker holds a term at the site, they take effect when the term is returned or ends, at most 2 seconds later. `burst` and `perSite` default to the settings of the server.",
      params: named,
      body: policy,
      example: { rate: "10/m", perSite: 1 },
      responses: { 200: { description: "The new limits.", json: sitePolicySchemaOut } },
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
      summary: "Remove the limits that an operator has set",
      params: named,
      responses: { 200: { description: "The limits are removed, or there were none.", json: named } },
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

function siteNotFound(site: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op: "api.sites",
    message: `no job of this broker has URLs of the site ${site}`,
  });
}

/** The name of the site in the frontier. Throws BAD_REQUEST if the text is not a site. */
function siteNamed(text: string): string {
  const url = /[/?#@\\]/.test(text) ? undefined : canonicalUrl(`http://${text}/`);
  if (url !== undefined) return siteOf(url, "host");
  throw new TrawlError("BAD_REQUEST", {
    op: "api.sites",
    message: `path.site: ${JSON.stringify(text)} is not a site; use a host, with its port unless it is 80 or 443, such as a.example:8080`,
  });
}
