/** What to do about a queue that no worker serves. Workers do not run crawls: a crawl has its own queue and process. */

const CRAWL_QUEUE = /^crawl:(j[0-9a-z]{10,})$/;

export function serveQueue(queue: string): { problem: string; action: string; command: string } {
  const crawl = CRAWL_QUEUE.exec(queue)?.[1];
  return crawl === undefined
    ? { problem: `No worker serves the queue ${queue}`, action: "Start one", command: `trawl worker --queues ${queue}` }
    : {
        problem: `No process runs the crawl ${crawl}`,
        action: "Continue it",
        command: `trawl crawl --resume ${crawl}`,
      };
}
