import type { JobOut } from "../../api/wire-types.ts";
import { jobMissing } from "../../frontier/job-missing.ts";
import type { ControlPlane } from "./control-plane.ts";

/** The job as it stands, or NOT_FOUND. */
export async function getJob(plane: Pick<ControlPlane, "findJob">, jobId: string): Promise<JobOut> {
  const job = await plane.findJob(jobId);
  if (job === undefined) throw jobMissing(jobId, "cli");
  return job;
}
