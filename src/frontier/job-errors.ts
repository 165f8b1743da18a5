import type { JobState } from "../domain/job.ts";
import { TrawlError } from "../errors.ts";

/** All backends and commands throw this for an unknown job. */
export function jobNotFound(jobId: string, op: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op,
    message: `no job ${jobId} in this broker; list the jobs with: trawl jobs`,
    detail: { jobId },
  });
}

/** Thrown when a caller tries to forget a job that has not ended. */
export function jobRunning(jobId: string, state: JobState, op: string): TrawlError {
  const why =
    state === "running" || state === "paused"
      ? `is ${state}; cancel it first: trawl cancel ${jobId}`
      : `is ${state}, and some of its tasks are still leased; try again when they have ended`;
  return new TrawlError("JOB_RUNNING", { op, message: `job ${jobId} ${why}`, detail: { jobId, state } });
}

/** What a user can do instead of changing an ended job. The dead letters of a cancelled job cannot be replayed. */
export function endedAdvice(state: string): string {
  return state === "cancelled" ? "start a new job" : "start a new job, or replay its dead letters";
}

/**
 * Thrown when a caller tries to change the limits of an ended job, or of a job past its deadline. A job past its
 * deadline may still have leased tasks, but its waiting tasks are already cancelled.
 */
export function tooLateForLimits(jobId: string, state: string): TrawlError {
  return new TrawlError("JOB_ENDED", {
    op: "frontier.setLimits",
    message: `job ${jobId} is ${state}${state === "running" ? " and past its deadline" : ""}, so its limits cannot be changed; start a new job`,
    detail: { jobId, state },
  });
}
