/** The trace of a job: counts, groups of failed attempts, the slowest pages and the first failed URLs. */

import type { KnownJob } from "../control/catalogue.ts";
import { hasEnded } from "../domain/job.ts";
import type { DeadLetter } from "../frontier/frontier-admin.ts";
import type { AttemptGroup, TracedPage } from "../store/store.ts";
import type { TraceDeps } from "./find-traced.ts";
import { stoppedCrawl } from "./stopped-crawl.ts";

export type JobTrace = {
  job: KnownJob;
  requestId: string | undefined;
  /** Why the job is waiting; empty after it has ended. */
  waits: readonly string[];
  /** Attempts that ended without a page, by cause. */
  attempts: readonly AttemptGroup[];
  slowest: readonly TracedPage[];
  dead: readonly DeadLetter[];
};

const SHOWN = 5;

export async function traceJob(
  { frontier, store, visibility }: Pick<TraceDeps, "frontier" | "store" | "visibility">,
  job: KnownJob,
): Promise<JobTrace> {
  const isOpen = !hasEnded(job.state);
  const [attempts, slowest, dead, explained, stopped] = await Promise.all([
    store.groupAttempts(job.id, SHOWN),
    store.slowestPages(job.id, SHOWN),
    frontier.listDead({ jobId: job.id }, SHOWN),
    // The broker may have removed a job that has ended.
    isOpen ? frontier.explain({ jobId: job.id }, visibility) : { reasons: [] },
    stoppedCrawl(frontier, job),
  ]);
  return {
    job,
    requestId: job.spec.requestId,
    waits: [...explained.reasons, ...stopped],
    attempts,
    slowest,
    dead,
  };
}
