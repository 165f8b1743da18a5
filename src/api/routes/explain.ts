/** Why something waits, in words, and until when. */
import { z } from "zod";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { STEPS, stepUrl } from "../../domain/step-url.ts";
import { TrawlError } from "../../errors.ts";
import type { Explanation } from "../../frontier/frontier-admin.ts";
import { type ApiDeps, findOwnJob, isOwn } from "../api-deps.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { ahead } from "../wire-fleet.ts";

const target = z.strictObject({
  url: z.string().min(1).max(10_000).optional(),
  site: z.string().min(1).max(300).optional().describe("A host, with its port unless that is 80 or 443. Takes admin."),
  job: z.string().min(1).max(100).optional(),
});

const explanation = z.strictObject({
  about: z.string(),
  reasons: z.array(z.string()),
  until: z.iso.datetime().nullable().describe("null: now, or nobody knows."),
  tasks: z
    .array(z.strictObject({ jobId: z.string(), state: z.enum(["queued", "delayed", "leased", "dead", "ended"]) }))
    .describe("Of a URL: the jobs that have it."),
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
      answers: { 200: { says: "In words.", json: explanation } },
      async handle({ query, caller }) {
        const { about, reasons, until, tasks } = await explained(deps, caller, query);
        const shown = tasks.map(({ jobId, state }) => ({ jobId, state }));
        return { status: 200, body: { about, reasons, until: ahead(until, deps.clock.now()), tasks: shown } };
      },
    }),
  ];
}

async function explained(deps: ApiDeps, caller: Caller, query: z.output<typeof target>): Promise<Explanation> {
  const { url, site, job } = query;
  if ([url, site, job].filter((one) => one !== undefined).length !== 1) {
    throw new TrawlError("BAD_REQUEST", { op: "api.explain", message: "query: takes one of url, site, job" });
  }
  if (job !== undefined) {
    await findOwnJob(deps, caller, job);
    return deps.frontier.explain({ jobId: job });
  }
  if (site !== undefined) return explainSite(deps, caller, site.toLowerCase());
  const canonical = canonicalUrl(url ?? "");
  if (canonical === undefined) {
    throw new TrawlError("BAD_URL", {
      op: "api.explain",
      message: `query.url: ${JSON.stringify(url)} is not an absolute http(s) URL without credentials`,
    });
  }
  return explainUrl(deps, caller, canonical);
}

function explainSite({ frontier }: ApiDeps, { scopes }: Caller, site: string): Promise<Explanation> {
  if (scopes.includes("admin")) return frontier.explain({ site });
  throw new TrawlError("FORBIDDEN", {
    op: "api.explain",
    message: "query.site: what waits at a site is everybody's; to ask for it takes admin; ask for a job, or a URL",
    detail: { scope: "admin" },
  });
}

/** A page with those of its steps that are known; of jobs of others nothing is said. */
async function explainUrl(deps: ApiDeps, caller: Caller, url: string): Promise<Explanation> {
  const found = await Promise.all(
    [url, ...STEPS.map((step) => stepUrl(url, step))].map((one) => deps.frontier.explain({ url: one })),
  );
  const own = await Promise.all(found.map((one) => ownPart(deps, caller, one)));
  const known = own.filter(({ tasks }) => tasks.length > 0);
  return {
    about: url,
    reasons: known.length === 0 ? ["no job here has seen this URL"] : known.flatMap(({ reasons }) => reasons),
    until: known.at(-1)?.until,
    tasks: known.flatMap(({ tasks }) => tasks),
  };
}

async function ownPart({ frontier }: ApiDeps, caller: Caller, all: Explanation): Promise<Explanation> {
  if (caller.tenant === undefined) return all;
  const jobs = await Promise.all(all.tasks.map(({ jobId }) => frontier.findJob(jobId)));
  const tasks = all.tasks.filter((_, nth) => jobs[nth] !== undefined && isOwn(jobs[nth], caller));
  if (tasks.length === all.tasks.length) return all;
  // Each reason begins with the job it is for.
  const reasons = all.reasons.filter((reason) => tasks.some(({ jobId }) => reason.startsWith(`in job ${jobId}: `)));
  return { ...all, reasons, until: undefined, tasks };
}
