/** Why something waits, in words, and until when. */
import { z } from "zod";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { type ApiDeps, findOwnJob, hearingOf, isOwn } from "../api-deps.ts";
import { type Asker, type Explained, explainTarget } from "../explain-target.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { explanationSchemaOut } from "../wire-fleet.ts";

const target = z.strictObject({
  url: z.string().min(1).max(10_000).optional(),
  site: z.string().min(1).max(300).optional().describe("A host, with its port unless that is 80 or 443. Takes admin."),
  job: z.string().min(1).max(100).optional(),
});

export function explainRoutes(deps: ApiDeps): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/explain",
      scope: "read",
      tag: "Jobs",
      summary: "Why a URL, a site or a job waits, and until when",
      says: "Give one of url, site, job. What waits at a site is everybody's: to ask for one takes a key with the scope admin.",
      query: target,
      answers: { 200: { says: "In words.", json: explanationSchemaOut } },
      async handle({ query, caller }) {
        const { about, reasons, until, tasks } = await explained(deps, caller, query);
        const shown = tasks.map(({ jobId, state, step = null }) => ({ jobId, state, step }));
        const untilOut = until === undefined ? null : new Date(until).toISOString();
        return { status: 200, body: { about, reasons, until: untilOut, tasks: shown } };
      },
    }),
  ];
}

function askerOf(caller: Caller): Asker {
  const mayHear = caller.tenant === undefined ? undefined : (job: JobView) => isOwn(job, caller);
  return { mayHear, hearing: hearingOf(caller) };
}

async function explained(deps: ApiDeps, caller: Caller, query: z.output<typeof target>): Promise<Explained> {
  const { url, site, job } = query;
  const asker = askerOf(caller);
  if ([url, site, job].filter((one) => one !== undefined).length !== 1) {
    throw new TrawlError("BAD_REQUEST", { op: "api.explain", message: "query: takes one of url, site, job" });
  }
  if (job !== undefined) {
    await findOwnJob(deps, caller, job);
    return explainTarget(deps, { jobId: job }, asker);
  }
  if (site !== undefined) return explainSite(deps, asker, site.toLowerCase());
  const canonical = canonicalUrl(url ?? "");
  if (canonical === undefined) {
    throw new TrawlError("BAD_URL", {
      op: "api.explain",
      message: `query.url: ${JSON.stringify(url)} is not an absolute http(s) URL without credentials`,
    });
  }
  return explainTarget(deps, { url: canonical }, asker);
}

function explainSite(deps: ApiDeps, asker: Asker, site: string): Promise<Explained> {
  if (asker.hearing === "all") return explainTarget(deps, { site }, asker);
  throw new TrawlError("FORBIDDEN", {
    op: "api.explain",
    message: "query.site: what waits at a site is everybody's; to ask for it takes admin; ask for a job, or a URL",
    detail: { scope: "admin" },
  });
}
