/**
 * Deletes jobs. The mark comes first: from then on the job is not there. The rest is done in bounded steps, by whoever
 * marked it and by every process that sweeps: done twice, it changes nothing, and killed between any two steps it leaves
 * the mark, from which the next one goes on.
 *
 * A worker that holds a lease of it may write a page after all was removed: so it is looked at again a while later, when no
 * lease can be left, and only then called clean.
 */
import { hasEnded } from "../domain/job.ts";
import { isTrawlError } from "../errors.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import { jobRunning } from "../frontier/job-missing.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Parcels } from "../store/bodies/bodies.ts";
import type { JobArchive } from "../store/job-archive.ts";
import { forget } from "./archive-ended.ts";
import type { KnownJob } from "./catalogue.ts";

export type DeleteDeps = {
  frontier: Pick<FrontierAdmin, "findJob" | "cancel" | "forgetJob">;
  archive: JobArchive;
  parcels: Pick<Parcels, "remove">;
  /** Jobs that work for this one, as deliveries do, whether they are there or not. */
  companionsOf(jobId: string): Promise<readonly string[]>;
  /** What else is kept under the ids of these jobs. */
  removeNotes(jobIds: readonly string[]): Promise<void>;
  clock: Clock;
};

/** Longer than any lease, and than anybody takes from a body that is put to the page that refers to it. */
export const SETTLED_MS = 3_600_000;
const STEP = 500;
const MARKS = 200;

/** From now on it is not there; the rest is for `cleanUp`. Throws JOB_RUNNING, unless it is to be cancelled. */
export async function markDeleted(
  { archive, clock }: Pick<DeleteDeps, "archive" | "clock">,
  { id, state, archived }: KnownJob,
  { cancel }: { cancel: boolean },
): Promise<void> {
  if (!archived && !hasEnded(state) && !cancel) throw jobRunning(id, state, "retain.delete");
  await archive.markDeleted(id, clock.now());
}

/**
 * One round over a job that is marked. False while tasks of it are under way, which end by themselves, and where `signal`
 * has aborted: what is left is for the next sweep.
 */
export async function cleanUp(deps: DeleteDeps, jobId: string, signal: AbortSignal): Promise<boolean> {
  const { frontier, archive, parcels, companionsOf, removeNotes, clock } = deps;
  const all = [jobId, ...(await companionsOf(jobId))];
  await removeNotes(all); // before its companions are stopped, or they would be started again
  let isOver = true;
  for (const id of all) isOver = (await stop(frontier, id)) && isOver;
  if (!isOver) return false;
  for (let after = ""; ; ) {
    const passed = await archive.readPassed(jobId, after, STEP);
    for (const taskId of passed) {
      if (signal.aborted) return false;
      await parcels.remove({ jobId, taskId });
    }
    after = passed.at(-1) ?? after;
    if (passed.length < STEP) break;
  }
  for (const id of all) {
    while (!signal.aborted && (await archive.erase(id, STEP, clock.now()))) {}
    if (signal.aborted || !(await forget(frontier, id, signal))) return false;
  }
  return !signal.aborted;
}

/**
 * All jobs that are marked and not clean yet. One that cannot be cleaned up now is for the next sweep, and keeps nobody else.
 * Returns those that have something under way.
 */
export async function cleanUpAll(deps: DeleteDeps & { log: Log }, signal: AbortSignal): Promise<string[]> {
  const { archive, clock } = deps;
  const underWay: string[] = [];
  for (let after: number | undefined, met = new Set<string>(); ; ) {
    const marks = (await archive.listUnclean(MARKS, after)).filter(({ jobId }) => !met.has(jobId));
    for (const { jobId, deletedAt } of marks) {
      if (signal.aborted) return underWay;
      met.add(jobId);
      after = deletedAt;
      await orWarn(deps, jobId, async () => {
        const isOver = await cleanUp(deps, jobId, signal);
        if (!isOver) underWay.push(jobId);
        else if (clock.now() - deletedAt >= SETTLED_MS) await archive.setClean(jobId);
      });
    }
    if (marks.length === 0) return underWay;
  }
}

/** The same for these alone. */
export async function cleanUpThese(
  deps: DeleteDeps & { log: Log },
  jobIds: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const underWay: string[] = [];
  for (const jobId of jobIds) {
    if (signal.aborted) return underWay;
    await orWarn(deps, jobId, async () => {
      if (!(await cleanUp(deps, jobId, signal))) underWay.push(jobId);
    });
  }
  return underWay;
}

async function orWarn({ log }: { log: Log }, jobId: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (isOutage(cause)) throw cause;
    log.warn("retention.clean_up_failed", { jobId, cause });
  }
}

/** True if nothing of it is under way. */
async function stop(frontier: DeleteDeps["frontier"], jobId: string): Promise<boolean> {
  const job = await frontier.findJob(jobId);
  if (job === undefined || job.finishedAt !== undefined) return true;
  if (job.state === "cancelled") return false;
  try {
    return (await frontier.cancel(jobId)).finishedAt !== undefined;
  } catch (error) {
    // It has ended, or somebody has removed it, since it was looked at.
    if (isTrawlError(error) && (error.code === "JOB_ENDED" || error.code === "NOT_FOUND")) return true;
    throw error;
  }
}

/** What the next job would meet, too: to ask for each of them would only take its time. */
function isOutage(error: unknown): boolean {
  return isTrawlError(error) && (error.code === "BROKER_UNREACHABLE" || error.code === "STORE_UNREACHABLE");
}
