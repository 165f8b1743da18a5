/** Traces: all attempts of a page, or the summary of a job. */
import { z } from "zod";
import { type Caller, isOwn, visibilityOf } from "../../control/caller.ts";
import type { KnownJob } from "../../control/catalogue.ts";
import { type JobPosition, listJobs } from "../../control/list-jobs.ts";
import { traceOut } from "../../control/views/trace.ts";
import { TrawlError } from "../../errors.ts";
import type { TraceTarget } from "../../trace/find-traced.ts";
import { trace } from "../../trace/trace.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { traceSchemaOut } from "../wire/trace.ts";

const idText = z.string().min(1).max(300);
const target = z.strictObject({
  url: z.string().min(1).max(10_000).optional(),
  job: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "Alone: the job to trace. With url or what: the job that contains the URL; required if the job is archived.",
    ),
  task: idText.optional().describe("A task id. The task must have had an attempt."),
  request: idText
    .optional()
    .describe("A request id. Selects the jobs that the request submitted, among the newest 1,000 jobs."),
  what: z.string().min(1).max(10_000).optional().describe("A URL or any of these ids. The server detects the kind."),
});

export function traceRoutes(deps: ApiDeps): ApiRoute[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/trace",
      scope: "read",
      tag: "Jobs",
      summary: "Trace a URL, a task, a job or a request across all processes",
      description:
        "Pass exactly one of `url`, `job`, `task`, `request` or `what`; only `url` and `what` can be combined with `job`. Secrets in URLs are masked.",
      query: target,
      responses: { 200: { description: "Timelines of pages, or summaries of jobs.", json: traceSchemaOut } },
      async handle({ query, caller }) {
        const maySee = (job: Parameters<typeof isOwn>[0]) => isOwn(job, caller);
        const visibility = visibilityOf(caller);
        const callerDeps = { ...deps, listJobs: () => jobsOf(deps, caller), maySee, visibility };
        const traced = await trace(callerDeps, targetOf(query));
        return { status: 200, body: traceOut(traced, { now: deps.clock.now(), visibility }) };
      },
    }),
  ];
}

const JOBS_PER_CALL = 100;

/** The jobs that the caller may see, newest first, in batches. */
async function* jobsOf(deps: ApiDeps, caller: Caller): AsyncGenerator<readonly KnownJob[], void> {
  for (let after: JobPosition | undefined; ; ) {
    const { jobs, next } = await listJobs(deps, caller, { limit: JOBS_PER_CALL, after });
    yield jobs;
    if (next === undefined) return;
    after = next;
  }
}

function targetOf({ job, ...others }: z.output<typeof target>): TraceTarget {
  const [first, second] = Object.entries(others).filter(([, value]) => value !== undefined);
  if (first === undefined && job !== undefined) return { kind: "job", query: job };
  const mayHaveJob = job === undefined || first?.[0] === "url" || first?.[0] === "what";
  if (first === undefined || second !== undefined || !mayHaveJob) {
    throw new TrawlError("BAD_REQUEST", {
      op: "api.trace",
      message:
        'query: pass exactly one of "url", "job", "task", "request" or "what"; only "url" and "what" can be combined with "job"',
    });
  }
  const kind = first[0] === "what" ? "any" : (first[0] as TraceTarget["kind"]);
  return { kind, query: String(first[1]), jobId: job };
}
