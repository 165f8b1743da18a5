/** How something went: every try of a page, by whom, and how it ended; or how a whole job did. */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import type { KnownJob } from "../../retain/catalogue.ts";
import type { TraceTarget } from "../../trace/find-traced.ts";
import { trace } from "../../trace/trace.ts";
import { type ApiDeps, hearingOf, isOwn } from "../api-deps.ts";
import { listJobs } from "../list-jobs.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { traceOut } from "../trace-out.ts";
import { traceSchemaOut } from "../wire-trace.ts";

const word = z.string().min(1).max(300);
const target = z.strictObject({
  url: z.string().min(1).max(10_000).optional(),
  job: z.string().min(1).max(100).optional().describe("By itself a job; with url or what, the job it is meant in."),
  task: word.optional(),
  request: word.optional().describe("The id of a request: what it has submitted, of the newest 1,000 jobs."),
  what: z.string().min(1).max(10_000).optional().describe("Any of these, whichever it turns out to be."),
});

export function traceRoutes(deps: ApiDeps): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/trace",
      scope: "read",
      tag: "Jobs",
      summary: "How a URL, a task, a job or a request went, across all processes",
      says: "Give one of url, job, task, request, what. Secrets in URLs are masked.",
      query: target,
      answers: { 200: { says: "In words, and in numbers.", json: traceSchemaOut } },
      async handle({ query, caller }) {
        const mayHear = (job: Parameters<typeof isOwn>[0]) => isOwn(job, caller);
        const hearing = hearingOf(caller);
        const own = { ...deps, listJobs: () => jobsOf(deps, caller), mayHear, hearing };
        const told = await trace(own, targetOf(query));
        return { status: 200, body: traceOut(told, { now: deps.clock.now(), hearing }) };
      },
    }),
  ];
}

const PAGE = 100;

/** A tenant's are found without looking at everybody's. */
async function* jobsOf(deps: ApiDeps, caller: Caller): AsyncGenerator<readonly KnownJob[], void> {
  for (let cursor: string | undefined; ; ) {
    const { jobs, next } = await listJobs(deps, caller, { limit: PAGE, cursor });
    yield jobs;
    if (next === null) return;
    cursor = next;
  }
}

function targetOf({ job, ...others }: z.output<typeof target>): TraceTarget {
  const [first, second] = Object.entries(others).filter(([, word]) => word !== undefined);
  if (first === undefined && job !== undefined) return { kind: "job", word: job };
  const isWithin = job === undefined || first?.[0] === "url" || first?.[0] === "what";
  if (first === undefined || second !== undefined || !isWithin) {
    throw new TrawlError("BAD_REQUEST", {
      op: "api.trace",
      message: "query: takes one of url, job, task, request, what; and with url or what a job, too",
    });
  }
  const kind = first[0] === "what" ? "any" : (first[0] as TraceTarget["kind"]);
  return { kind, word: String(first[1]), jobId: job };
}
