import { TrawlError } from "../errors.ts";

/** What whoever names a job that is not there is told, by every backend and command alike. */
export function jobMissing(jobId: string, op: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op,
    message: `no job ${jobId} in this broker; list what is there with: trawl jobs`,
    detail: { jobId },
  });
}
