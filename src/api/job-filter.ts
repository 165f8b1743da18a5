/** Which jobs somebody looks for: by state, and by words that are in the name, an id or a URL of each. */
import { hasEnded, type JobState } from "../domain/job.ts";
import type { JobView } from "../frontier/frontier-admin.ts";
import type { JobSpec } from "../submit/job-spec.ts";

export type JobFilter = { state?: JobState | undefined; q?: string | undefined };

export function isFiltering({ state, q = "" }: JobFilter): boolean {
  return state !== undefined || q.trim() !== "";
}

/** Whether only jobs can be like that which have not ended. */
export function isOfOpen({ state }: JobFilter): boolean {
  return state !== undefined && !hasEnded(state);
}

/** All of the words have to be there, in any case and order. Of a job with many URLs the list is not kept to be searched. */
export function jobMatcher({ state, q = "" }: JobFilter): (job: JobView) => boolean {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return (job) => {
    if (state !== undefined && job.state !== state) return false;
    if (words.length === 0) return true;
    const { urls = [], requestId = "" } = job.spec as Partial<JobSpec>;
    const text = [job.name, job.id, requestId, ...urls].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
