/** How a whole job went: in numbers, with the few pages that one would ask about first. */
import { hasEnded } from "../domain/job.ts";
import type { DeadLetter } from "../frontier/frontier-admin.ts";
import type { KnownJob } from "../retain/catalogue.ts";
import type { TracedPage, TryGroup } from "../store/store.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import type { TraceDeps } from "./find-traced.ts";

export type JobTrace = {
  job: KnownJob;
  requestId: string | undefined;
  /** What holds it up; empty once it has ended. */
  waits: readonly string[];
  /** Leases that ended without a page, by how. */
  tries: readonly TryGroup[];
  slowest: readonly TracedPage[];
  dead: readonly DeadLetter[];
};

const SHOWN = 5;

export async function traceJob(
  { frontier, store, hearing }: Pick<TraceDeps, "frontier" | "store" | "hearing">,
  job: KnownJob,
): Promise<JobTrace> {
  const isOpen = !hasEnded(job.state);
  const [tries, slowest, dead, explained] = await Promise.all([
    store.groupTries(job.id, SHOWN),
    store.slowestPages(job.id, SHOWN),
    frontier.listDead({ jobId: job.id }, SHOWN),
    // One that has ended may have left the broker.
    isOpen ? frontier.explain({ jobId: job.id }, hearing) : { reasons: [] },
  ]);
  return {
    job,
    requestId: (job.spec as Partial<JobSpec>).requestId,
    waits: explained.reasons,
    tries,
    slowest,
    dead,
  };
}
