/** A job as `--json` prints it. */
import type { JobView } from "../frontier/frontier-admin.ts";
import type { JobSpec } from "../submit/job-spec.ts";

export function jobJson(job: JobView): Record<string, unknown> {
  const { id, name, state, createdAt, finishedAt, counts, tally, spec } = job;
  return {
    id,
    requestId: (spec as Partial<JobSpec>).requestId ?? null, // jobs of older versions have none
    name,
    state,
    counts,
    tally,
    createdAt: new Date(createdAt).toISOString(),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
  };
}
