/**
 * Moves jobs that ended long ago from the broker to the archive. Any number of processes may run it at once. A job is
 * written to the archive before it is removed from the broker. After a crash at any point, the job is in the broker, in
 * the archive or in both; readers prefer the broker.
 */
import { isTrawlError } from "../errors.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import type { RequestBodies } from "../store/bodies/bodies.ts";
import type { ArchivedJob, JobArchive } from "../store/job-archive.ts";
import { withMaskedSecrets } from "../submit/masked-secrets.ts";

type Deps = {
  frontier: Pick<FrontierAdmin, "listEnded" | "forgetJob">;
  archive: Pick<JobArchive, "keep">;
  requestBodies: Pick<RequestBodies, "removeAll">;
  /** Whether the job belongs to another job, such as a delivery job. Companions are not archived. */
  isCompanion(jobId: string): boolean;
  removeSessions: RemoveSessions;
};

/** Removes the sessions of a job from the broker, before the job itself. */
export type RemoveSessions = (job: JobView, signal: AbortSignal) => Promise<void>;

/** Jobs listed per query. */
const JOB_BATCH = 50;
/** Entries of a job that are removed per call to the broker. */
const FORGET_BATCH = 500;

/** Archives jobs that ended before an instant. Returns their number. Stops between two jobs when `signal` aborts. */
export async function archiveEnded(deps: Deps, endedBefore: number, signal: AbortSignal): Promise<number> {
  const { frontier, archive, requestBodies, isCompanion, removeSessions } = deps;
  let archived = 0;
  for (;;) {
    const jobs = await frontier.listEnded(endedBefore, JOB_BATCH);
    const before = archived;
    for (const job of jobs) {
      if (signal.aborted) return archived;
      if (!isCompanion(job.id)) await archive.keep(summaryOf(job));
      await removeSessions(job, signal);
      if (signal.aborted) return archived;
      if (!(await forget(frontier, job.id, signal))) continue;
      archived += 1;
      // No task is left that could send them. After a crash before this line, they are removed when the job is deleted.
      if (!isCompanion(job.id)) await requestBodies.removeAll(job.id);
    }
    if (jobs.length < JOB_BATCH || archived === before) return archived;
  }
}

/** Removes a job from the broker. Returns false if the job is running. If `signal` aborts, reapers remove the rest. */
export async function forget(
  frontier: Pick<FrontierAdmin, "forgetJob">,
  jobId: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    while ((await frontier.forgetJob(jobId, FORGET_BATCH)) === "more" && !signal.aborted) {}
    return true;
  } catch (error) {
    if (isTrawlError(error) && error.code === "JOB_RUNNING") return false;
    throw error;
  }
}

/** No worker fetches for an ended job, so the archive stores its secrets masked. */
function summaryOf(job: JobView): ArchivedJob {
  const { id, createdAt, finishedAt = createdAt } = job;
  return { id, createdAt, finishedAt, view: { ...job, spec: withMaskedSecrets(job.spec) } };
}
