/** Explains why a URL, a site or a job waits. */
import { z } from "zod";
import { type Caller, isOwn, visibilityOf } from "../../control/caller.ts";
import { type ExplainCaller, type Explained, explainTarget } from "../../control/explain-target.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { explanationSchemaOut } from "../wire/explain.ts";

const target = z.strictObject({
  url: z.string().min(1).max(10_000).optional(),
  site: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe("A host, with its port unless it is 80 or 443. Requires the scope admin."),
  job: z.string().min(1).max(100).optional(),
});

export function explainRoutes(deps: ApiDeps): ApiRoute[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/explain",
      scope: "read",
      tag: "Jobs",
      summary: "Explain why a URL, a site or a job waits",
      description: "Takes one of url, site, job. All tenants share the sites, so `site` requires the scope admin.",
      query: target,
      responses: { 200: { description: "The reasons.", json: explanationSchemaOut } },
      async handle({ query, caller }) {
        const { about, reasons, until, tasks } = await explained(deps, caller, query);
        const shown = tasks.map(({ jobId, state, step = null }) => ({ jobId, state, step }));
        const untilOut = until === undefined ? null : new Date(until).toISOString();
        return { status: 200, body: { about, reasons, until: untilOut, tasks: shown } };
      },
    }),
  ];
}

function explainCallerOf(caller: Caller): ExplainCaller {
  const maySee = caller.tenant === undefined ? undefined : (job: JobView) => isOwn(job, caller);
  return { maySee, visibility: visibilityOf(caller) };
}

async function explained(deps: ApiDeps, caller: Caller, query: z.output<typeof target>): Promise<Explained> {
  const { url, site, job } = query;
  const explainCaller = explainCallerOf(caller);
  if ([url, site, job].filter((one) => one !== undefined).length !== 1) {
    throw new TrawlError("BAD_REQUEST", {
      op: "api.explain",
      message: 'query: pass exactly one of "url", "site" or "job"',
    });
  }
  if (job !== undefined) {
    await findOwnJob(deps, caller, job);
    return explainTarget(deps, { jobId: job }, explainCaller);
  }
  if (site !== undefined) return explainSite(deps, explainCaller, site.toLowerCase());
  const canonical = canonicalUrl(url ?? "");
  if (canonical === undefined) {
    throw new TrawlError("BAD_URL", {
      op: "api.explain",
      message: `query.url: ${JSON.stringify(url)} is not an absolute http(s) URL without credentials`,
    });
  }
  return explainTarget(deps, { url: canonical }, explainCaller);
}

function explainSite(deps: ApiDeps, explainCaller: ExplainCaller, site: string): Promise<Explained> {
  if (explainCaller.visibility === "all") return explainTarget(deps, { site }, explainCaller);
  throw new TrawlError("FORBIDDEN", {
    op: "api.explain",
    message: "query.site: requires the scope admin, because all tenants share the sites; use job or url instead",
    detail: { scope: "admin" },
  });
}
