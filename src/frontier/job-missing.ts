import type { JobState } from "../domain/job.ts";
import { TrawlError } from "../errors.ts";

/** What whoever names a job that is not there is told, by every backend and command alike. */
export function jobMissing(jobId: string, op: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op,
    message: `no job ${jobId} in this broker; list what is there with: trawl jobs`,
    detail: { jobId },
  });
}

/** What whoever would be rid of a job is told while anything of it may still be under way. */
export function jobRunning(jobId: string, state: JobState, op: string): TrawlError {
  const why =
    state === "running" || state === "paused"
      ? `is ${state}; cancel it first: trawl cancel ${jobId}`
      : `is ${state}, and some of its tasks are still under way; they end by themselves: try again in a while`;
  return new TrawlError("JOB_RUNNING", { op, message: `job ${jobId} ${why}`, detail: { jobId, state } });
}

/** Also of a job that is out of time while the last of it is under way: what it had waiting is gone. */
export function tooLateForLimits(jobId: string, state: string): TrawlError {
  return new TrawlError("JOB_ENDED", {
    op: "frontier.setLimits",
    message: `job ${jobId} is ${state}${state === "running" ? " and out of time" : ""}: too late to change its limits; start a new job`,
    detail: { jobId, state },
  });
}
