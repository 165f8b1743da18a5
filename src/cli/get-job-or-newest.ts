import type { JobDetailOut } from "../client/wire-types.ts";
import { TrawlError } from "../errors.ts";
import { showable } from "../runtime/showable.ts";
import { getJob } from "./plane/control-plane.ts";
import type { PlaneSession } from "./plane/run-on-plane.ts";

/** The job with this id. Without an id: the newest job, whose id and name are printed on stderr. Throws NOT_FOUND. */
export async function getJobOrNewest(
  { plane, screen }: Pick<PlaneSession, "plane" | "screen">,
  jobId: string | undefined,
  { json }: { json?: boolean },
): Promise<JobDetailOut> {
  if (jobId !== undefined) return getJob(plane, jobId);
  const [newest] = await plane.listJobs(1, {});
  if (newest === undefined) {
    throw new TrawlError("NOT_FOUND", { op: "cli", message: "no jobs yet; start one with: trawl crawl <url>" });
  }
  if (json !== true) screen.err(`${showable(`newest job: ${newest.id}  ${newest.name}`)}\n`);
  return getJob(plane, newest.id);
}
