/** How a crawl is told from a job that was submitted for workers. */
import type { JobView } from "../../frontier/frontier-admin.ts";

/** A queue of its own: the process that crawls works on this crawl, and no other process does. */
export function crawlQueue(jobId: string): string {
  return `crawl:${jobId}`;
}

/** Whether a job is a crawl, and not one that was submitted for workers. */
export function isCrawl({ id, queue }: Pick<JobView, "id" | "queue">): boolean {
  return queue === crawlQueue(id);
}
