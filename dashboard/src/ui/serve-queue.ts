/**
 * What to do about a queue that no worker serves. Workers do not run crawls: a crawl has its own queue and process.
 * Tasks that need a proxy of a region have a queue of that region: `fetch@eu`.
 */

const CRAWL_QUEUE = /^crawl:(j[0-9a-z]{10,})$/;

export function serveQueue(queue: string): { problem: string; action: string; command: string } {
  const crawl = CRAWL_QUEUE.exec(queue)?.[1];
  if (crawl !== undefined) {
    return {
      problem: `No process runs the crawl ${crawl}`,
      action: "Continue it",
      command: `trawl crawl --resume ${crawl}`,
    };
  }
  const [name = "", region] = queue.split("@");
  return region === undefined
    ? { problem: `No worker serves the queue ${queue}`, action: "Start one", command: `trawl worker --queues ${queue}` }
    : {
        problem: `No worker serves the region ${region} (queue ${name})`,
        action: "Start one with a proxy of this region",
        command: `trawl worker --queues ${name} --region ${region}`,
      };
}
