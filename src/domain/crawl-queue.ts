/** The queue names of crawls. They distinguish a crawl from a job that was submitted for workers. */

/** Each crawl has its own queue, so that only the processes of that crawl take its tasks. */
export function crawlQueue(jobId: string): string {
  return `crawl:${jobId}`;
}

/** True for a job of `trawl crawl`, false for one that was submitted for workers. */
export function isCrawl({ id, queue }: { id: string; queue: string }): boolean {
  return queue === crawlQueue(id);
}

/** The queue of a generated job id. Users may give their own queues other names that start with `crawl:`. */
const CRAWL_QUEUE = /^crawl:(j[0-9a-z]{10,})$/;

/** The id of the crawl that has this queue; undefined for the queue of submitted jobs. */
export function crawlOfQueue(queue: string): string | undefined {
  return CRAWL_QUEUE.exec(queue)?.[1];
}
