/**
 * Moves jobs that ended long ago from the broker to the archive. Called by any number of processes at once. The archive is
 * written first, durably: killed between any two steps, a job is in the broker, or in both, where the broker's word counts.
 */
import { isTrawlError } from "../errors.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import type { ArchivedJob, JobArchive } from "../store/job-archive.ts";
import { withMaskedSecrets } from "../submit/masked-secrets.ts";

type Deps = {
  frontier: Pick<FrontierAdmin, "listEnded" | "forgetJob">;
  archive: Pick<JobArchive, "keep">;
  /** Whether it works for another job, as deliveries do: nobody looks for it by itself. */
  isCompanion(jobId: string): boolean;
};

/** Jobs looked at in one go. */
const JOBS_MOST = 50;
/** What is removed of a job in one step. */
const STEP = 500;

/** Those that ended before that instant; the answer is how many left. Stops between two jobs when `signal` aborts. */
export async function archiveEnded(deps: Deps, endedBefore: number, signal: AbortSignal): Promise<number> {
  const { frontier, archive, isCompanion } = deps;
  let left = 0;
  for (;;) {
    const jobs = await frontier.listEnded(endedBefore, JOBS_MOST);
    const before = left;
    for (const job of jobs) {
      if (signal.aborted) return left;
      if (!isCompanion(job.id)) await archive.keep(summaryOf(job));
      if (await forget(frontier, job.id, signal)) left += 1;
    }
    if (jobs.length < JOBS_MOST || left === before) return left;
  }
}

/** All of it, or what reapers leave when `signal` aborts; false if it runs again, or still. */
export async function forget(
  frontier: Pick<FrontierAdmin, "forgetJob">,
  jobId: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    while ((await frontier.forgetJob(jobId, STEP)) === "more" && !signal.aborted) {}
    return true;
  } catch (error) {
    if (isTrawlError(error) && error.code === "JOB_RUNNING") return false;
    throw error;
  }
}

function summaryOf(job: JobView): ArchivedJob {
  const { id, createdAt, finishedAt = createdAt } = job;
  return { id, createdAt, finishedAt, view: { ...job, spec: withoutSecrets(job.spec) } };
}

/** Nobody fetches in its name again: its secrets need not outlive it. */
export function withoutSecrets<Spec>(spec: Spec): Spec {
  return typeof spec === "object" && spec !== null ? withMaskedSecrets(spec) : spec;
}
