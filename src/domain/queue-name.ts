/** The queues of the task kinds. Users may choose other queue names. */
export const BUILT_IN_QUEUES = ["fetch", "render", "parse", "deliver"] as const;

/** The form of every queue name. */
export const QUEUE_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;

/** Separates the name and the region. Names that users choose do not contain it. */
const AT = "@";

/**
 * The queue of the tasks that need a proxy of a region: `fetch@eu`. Only workers that have such a proxy serve it. So no
 * other worker leases these tasks.
 */
export function regionalQueue(queue: string, region: string | undefined): string {
  return region === undefined ? queue : `${queue}${AT}${region}`;
}

/** The name and the region of a queue: `fetch` and `eu` for `fetch@eu`. */
export function regionOfQueue(queue: string): { name: string; region: string | undefined } {
  const at = queue.indexOf(AT);
  return at < 0 ? { name: queue, region: undefined } : { name: queue.slice(0, at), region: queue.slice(at + 1) };
}

/** The queues of a worker that has proxies of these regions. */
export function inRegions(queues: readonly string[], regions: readonly string[]): string[] {
  return queues.flatMap((queue) => {
    const own = WITHOUT_REGION.includes(queue) ? [] : regions.map((region) => regionalQueue(queue, region));
    return [queue, ...own];
  });
}

/** Their tasks send no requests through proxies. */
const WITHOUT_REGION: readonly string[] = ["parse", "deliver"];

/** The flags with which `trawl worker` serves these queues: `--queues fetch --region eu`. */
export function flagsForQueues(queues: readonly string[]): string {
  const names = [...new Set(queues.map((queue) => regionOfQueue(queue).name))];
  const region = findRegion(queues);
  return `--queues ${names.join(",")}${region === undefined ? "" : ` --region ${region}`}`;
}

/** What such a worker needs, to be appended to its command; empty if no queue has a region. */
export function proxyAdvice(queues: readonly string[]): string {
  const region = findRegion(queues);
  return region === undefined ? "" : `, with a proxy of region ${region}`;
}

/** How to start a worker for these queues. */
export function startText(queues: readonly string[], worker = "one"): string {
  return `start ${worker} with: trawl worker ${flagsForQueues(queues)}${proxyAdvice(queues)}`;
}

/** What a worker serves, for sentences: `queue fetch`, or `region eu (queue fetch)`. */
export function queueText(queue: string): string {
  const { name, region } = regionOfQueue(queue);
  return region === undefined ? `queue ${name}` : `region ${region} (queue ${name})`;
}

/** All queues of one job have the same region, apart from those without a region. */
function findRegion(queues: readonly string[]): string | undefined {
  return queues.map((queue) => regionOfQueue(queue).region).find((region) => region !== undefined);
}
