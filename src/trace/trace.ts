/** The life of one request, from what every process that had it left behind. */
import { findTraced, type TraceDeps, type TraceTarget } from "./find-traced.ts";
import { type JobTrace, traceJob } from "./job-trace.ts";
import { type Story, storyOf } from "./story.ts";

/** Of pages their stories, or of jobs how they went as a whole: one of the two is empty. */
export type Trace = { stories: readonly Story[]; jobs: readonly JobTrace[] };

/** Throws NOT_FOUND or BAD_URL. */
export async function trace(deps: TraceDeps, target: TraceTarget): Promise<Trace> {
  const traced = await findTraced(deps, target);
  if (traced.kind === "jobs") {
    return { stories: [], jobs: await Promise.all(traced.jobs.map((job) => traceJob(deps, job))) };
  }
  return { stories: await Promise.all(traced.pages.map(({ job, url }) => storyOf(deps, job, url))), jobs: [] };
}
