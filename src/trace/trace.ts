/** The life of one request, from what every process that had it left behind. */
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import { findTraced, type TraceDeps, type TraceTarget } from "./find-traced.ts";
import { type JobTrace, traceJob } from "./job-trace.ts";
import { type Story, storyOf } from "./story.ts";

/** Of pages their stories, or of jobs how they went as a whole: one of the two is empty. `more`: not told of, so many. */
export type Trace = { stories: readonly Story[]; jobs: readonly JobTrace[]; more: number };

/** Each costs some looks into broker and store, and nobody reads more: a request may have made thousands of jobs. */
const TOLD_MOST = 20;

/** Throws NOT_FOUND or BAD_URL. */
export async function trace(all: TraceDeps, target: TraceTarget): Promise<Trace> {
  const deps = { ...all, frontier: { listDead: all.frontier.listDead, explain: explainOnce(all.frontier) } };
  const traced = await findTraced(deps, target);
  if (traced.kind === "jobs") {
    const { told, more } = await tell(traced.jobs, (job) => traceJob(deps, job));
    return { stories: [], jobs: told, more };
  }
  const { told, more } = await tell(traced.pages, ({ job, url }) => storyOf(deps, job, url));
  return { stories: told, jobs: [], more };
}

/** What the broker says of a URL is of all jobs that have it: it is asked once for all their stories. */
function explainOnce({ explain }: Pick<FrontierAdmin, "explain">): FrontierAdmin["explain"] {
  const told = new Map<string, ReturnType<FrontierAdmin["explain"]>>();
  return (target, hearing) => {
    const key = JSON.stringify(target);
    const answer = told.get(key) ?? explain(target, hearing);
    told.set(key, answer);
    return answer;
  };
}

/** One after another: others want to be answered meanwhile. */
async function tell<Of, To>(
  found: readonly Of[],
  toldOf: (one: Of) => Promise<To>,
): Promise<{ told: To[]; more: number }> {
  const told: To[] = [];
  for (const one of found.slice(0, TOLD_MOST)) told.push(await toldOf(one));
  return { told, more: found.length - told.length };
}
