/** Reads the timelines of pages, or the traces of jobs, from the store and the broker. */
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import { findTraced, type TraceDeps, type TraceTarget } from "./find-traced.ts";
import { type JobTrace, traceJob } from "./job-trace.ts";
import { readTimeline, type Timeline } from "./timeline.ts";

/** `timelines` are of pages. Either `timelines` or `jobs` is empty. `more` counts the results that were left out. */
export type Trace = { timelines: readonly Timeline[]; jobs: readonly JobTrace[]; more: number };

/**
 * The maximum number of results. Each result needs several queries, and a request may have created thousands of jobs.
 */
const MAX_RESULTS = 20;

/** Traces a URL, a job, a task or a request. Throws NOT_FOUND or BAD_URL. */
export async function trace(all: TraceDeps, target: TraceTarget): Promise<Trace> {
  const { listDead, listWorkers } = all.frontier;
  const deps = { ...all, frontier: { listDead, listWorkers, explain: explainOnce(all.frontier) } };
  const traced = await findTraced(deps, target);
  if (traced.kind === "jobs") {
    const { results, more } = await readFirst(traced.jobs, (job) => traceJob(deps, job));
    return { timelines: [], jobs: results, more };
  }
  const { results, more } = await readFirst(traced.pages, ({ job, url }) => readTimeline(deps, job, url));
  return { timelines: results, jobs: [], more };
}

/**
 * Caches replies of `explain`. The broker explains a URL for all jobs at once, so the timelines of all jobs use one
 * reply.
 */
function explainOnce({ explain }: Pick<FrontierAdmin, "explain">): FrontierAdmin["explain"] {
  const replies = new Map<string, ReturnType<FrontierAdmin["explain"]>>();
  return (target, visibility) => {
    const key = JSON.stringify(target);
    const reply = replies.get(key) ?? explain(target, visibility);
    replies.set(key, reply);
    return reply;
  };
}

/** Reads the first results, one after another, so that other requests to the server are not delayed. */
async function readFirst<Found, Result>(
  found: readonly Found[],
  read: (one: Found) => Promise<Result>,
): Promise<{ results: Result[]; more: number }> {
  const results: Result[] = [];
  for (const one of found.slice(0, MAX_RESULTS)) results.push(await read(one));
  return { results, more: found.length - results.length };
}
