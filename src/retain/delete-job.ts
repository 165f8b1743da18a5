/**
 * Deletes jobs. First a job is marked as deleted; from then on no reader finds it. Then the process that marked it, and
 * every retention process, remove its data in batches. Removing twice is harmless. After a crash at any point the mark
 * remains, and the next sweep continues.
 *
 * A worker that holds a lease may write a page after everything was removed. So the job is cleaned up again after
 * `SETTLED_MS`, when no lease can be left, and only then recorded as clean.
 */

import type { KnownJob } from "../control/catalogue.ts";
import { hasEnded } from "../domain/job.ts";
import { isTrawlError } from "../errors.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import { jobRunning } from "../frontier/job-errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { PageSpool, RequestBodies } from "../store/bodies/bodies.ts";
import type { JobArchive } from "../store/job-archive.ts";
import { forget, type RemoveSessions } from "./archive-ended.ts";

export type DeleteDeps = {
  frontier: Pick<FrontierAdmin, "findJob" | "cancel" | "forgetJob">;
  archive: JobArchive;
  spool: Pick<PageSpool, "remove">;
  requestBodies: Pick<RequestBodies, "removeAll">;
  /** Ids of jobs that belong to this one, such as delivery jobs. They may not exist. */
  companionsOf(jobId: string): Promise<readonly string[]>;
  /** Removes other entries of these jobs, such as webhooks. */
  removeEntries(jobIds: readonly string[]): Promise<void>;
  removeSessions: RemoveSessions;
  clock: Clock;
};

/** Longer than any lease, and longer than the time between storing a body and writing its page. */
export const SETTLED_MS = 3_600_000;
const BATCH = 500;
const MARKED_BATCH = 200;

/** Marks a job as deleted; `cleanUp` removes its data. Throws JOB_RUNNING for an open job if `cancel` is false. */
export async function markDeleted(
  { archive, clock }: Pick<DeleteDeps, "archive" | "clock">,
  { id, state, archived }: KnownJob,
  { cancel }: { cancel: boolean },
): Promise<void> {
  if (!archived && !hasEnded(state) && !cancel) throw jobRunning(id, state, "retain.delete");
  await archive.markDeleted(id, clock.now());
}

/**
 * Removes the data of a marked job. Returns false if tasks of it are in flight or `signal` has aborted; the next sweep
 * continues.
 */
export async function cleanUp(deps: DeleteDeps, jobId: string, signal: AbortSignal): Promise<boolean> {
  const { frontier, archive, spool, requestBodies, companionsOf, removeEntries, removeSessions, clock } = deps;
  const all = [jobId, ...(await companionsOf(jobId))];
  await removeEntries(all); // before its companions are stopped, otherwise a notifier would start them again
  let isStopped = true;
  for (const id of all) isStopped = (await stop(frontier, id)) && isStopped;
  if (!isStopped) return false;
  const job = await frontier.findJob(jobId);
  if (job !== undefined) await removeSessions(job, signal);
  for (let after = ""; ; ) {
    const passed = await archive.readPassed(jobId, after, BATCH);
    for (const taskId of passed) {
      if (signal.aborted) return false;
      await spool.remove({ jobId, taskId });
    }
    after = passed.at(-1) ?? after;
    if (passed.length < BATCH) break;
  }
  await requestBodies.removeAll(jobId);
  for (const id of all) {
    while (!signal.aborted && (await archive.erase(id, BATCH, clock.now()))) {}
    if (signal.aborted || !(await forget(frontier, id, signal))) return false;
  }
  return !signal.aborted;
}

/**
 * Cleans up all marked jobs that are not clean yet. A job that fails does not stop the others; the next sweep retries
 * it. Returns the jobs that have tasks in flight.
 */
export async function cleanUpAll(deps: DeleteDeps & { log: Log }, signal: AbortSignal): Promise<string[]> {
  const { archive, clock } = deps;
  const inFlight: string[] = [];
  for (let after: number | undefined, seen = new Set<string>(); ; ) {
    const marks = (await archive.listUncleaned(MARKED_BATCH, after)).filter(({ jobId }) => !seen.has(jobId));
    for (const { jobId, deletedAt } of marks) {
      if (signal.aborted) return inFlight;
      seen.add(jobId);
      after = deletedAt;
      await warnOnFailure(deps, jobId, async () => {
        const isRemoved = await cleanUp(deps, jobId, signal);
        if (!isRemoved) inFlight.push(jobId);
        else if (clock.now() - deletedAt >= SETTLED_MS) await archive.setClean(jobId);
      });
    }
    if (marks.length === 0) return inFlight;
  }
}

/** Like `cleanUpAll`, for the given jobs only. */
export async function cleanUpThese(
  deps: DeleteDeps & { log: Log },
  jobIds: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const inFlight: string[] = [];
  for (const jobId of jobIds) {
    if (signal.aborted) return inFlight;
    await warnOnFailure(deps, jobId, async () => {
      if (!(await cleanUp(deps, jobId, signal))) inFlight.push(jobId);
    });
  }
  return inFlight;
}

async function warnOnFailure({ log }: { log: Log }, jobId: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (isOutage(cause)) throw cause;
    log.warn("retention.clean_up_failed", { jobId, cause });
  }
}

/** Cancels a job. Returns true if no task of it is in flight. */
async function stop(frontier: DeleteDeps["frontier"], jobId: string): Promise<boolean> {
  const job = await frontier.findJob(jobId);
  if (job === undefined || job.finishedAt !== undefined) return true;
  if (job.state === "cancelled") return false;
  try {
    return (await frontier.cancel(jobId)).finishedAt !== undefined;
  } catch (error) {
    // It has ended, or another process has removed it, since it was read.
    if (isTrawlError(error) && (error.code === "JOB_ENDED" || error.code === "NOT_FOUND")) return true;
    throw error;
  }
}

/** Errors that would also occur for the next job, after the same timeout. */
function isOutage(error: unknown): boolean {
  return isTrawlError(error) && (error.code === "BROKER_UNREACHABLE" || error.code === "STORE_UNREACHABLE");
}
