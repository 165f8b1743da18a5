/**
 * Finds one task of a job by its URL. It searches the leases and lanes page by page: such queries are rare, and an
 * index would use memory for every waiting URL.
 */
import type { Shard } from "./cluster/shards.ts";
import { encodeUrl } from "./codec/task-body.ts";

export type TaskTarget = {
  shard: Shard;
  url: string;
  jobNumber: string;
  /** "" if the dedup scope does not store it. */
  taskId: string;
  site: string;
  siteNumber: number;
};

type FoundLease = { worker: string; leaseUntil: number };
type FoundWaiting = { queue: string; notBefore: number | undefined; failures: number; history: string };

type TaskFinder = {
  findLease(target: TaskTarget): Promise<FoundLease | undefined>;
  findWaiting(target: TaskTarget): Promise<FoundWaiting | undefined>;
};

/** Tasks or leases read per script call. */
const PAGE = 2000;
const LISTS = ["back", "delayed", "tasks"] as const;

export function createTaskFinder(): TaskFinder {
  return {
    async findLease({ shard, url, site, jobNumber, siteNumber, taskId }) {
      const lanes = `${jobNumber}:${siteNumber}:`;
      for (let cursor = "0"; ; ) {
        const reply = await shard.run("find-lease", cursor, PAGE, lanes, encodeUrl(url, site), taskId);
        const [, next, id, worker, leaseUntil] = reply;
        if (id !== undefined) return { worker: String(worker), leaseUntil: Number(leaseUntil) };
        cursor = String(next);
        if (cursor === "0") return undefined;
      }
    },
    async findWaiting(target) {
      for (const lane of await lanesOf(target)) {
        for (const list of LISTS) {
          const found = await findIn(target, lane, list);
          if (found !== undefined) return found;
        }
      }
      return undefined;
    },
  };
}

/** The lanes of the job at the site. The name of a lane is job:site:priority:queue. */
async function lanesOf({ shard, jobNumber, siteNumber }: TaskTarget): Promise<string[]> {
  const lanes: string[] = [];
  const start = `${jobNumber}:${siteNumber}:`;
  const key = shard.key("job-lanes", jobNumber);
  for (let cursor = "0"; ; ) {
    const [next, page] = (await shard.read("ZSCAN", key, cursor, "MATCH", `${start}*`, "COUNT", PAGE)) as [
      string,
      string[],
    ];
    lanes.push(...page.filter((name) => name.startsWith(start)));
    cursor = next;
    if (cursor === "0") return lanes;
  }
}

async function findIn(
  { shard, url, site, taskId }: TaskTarget,
  lane: string,
  list: (typeof LISTS)[number],
): Promise<FoundWaiting | undefined> {
  for (let from = 0; ; from += PAGE) {
    const reply = await shard.run("find-task", list, lane, from, PAGE, encodeUrl(url, site), taskId);
    const [, count, id, failures, notBefore, history] = reply;
    if (id !== undefined) {
      return {
        queue: lane.split(":").slice(3).join(":"),
        notBefore: notBefore === "" ? undefined : Number(notBefore),
        failures: Number(failures),
        history: String(history),
      };
    }
    if (Number(count) < PAGE) return undefined;
  }
}
