/**
 * Finds one task of a job by its URL. What lies in a lane is found by looking through it, a stretch at a time: people
 * ask rarely, and an index would cost every URL that waits.
 */
import type { Shard } from "./shards.ts";
import { encodeUrl } from "./task-body.ts";

export type Sought = {
  shard: Shard;
  url: string;
  jobNumber: string;
  /** "" where the scope does not tell. */
  taskId: string;
  site: string;
  siteNumber: number;
};

export type FoundLease = { worker: string; leaseUntil: number };
export type FoundWaiting = { queue: string; notBefore: number | undefined; failures: number; history: string };

export type TaskFinder = {
  findLease(sought: Sought): Promise<FoundLease | undefined>;
  findWaiting(sought: Sought): Promise<FoundWaiting | undefined>;
};

/** Looked at in one script. */
const STRETCH = 2000;
const PLACES = ["back", "delayed", "tasks"] as const;

export function createTaskFinder(): TaskFinder {
  return {
    async findLease({ shard, url, site, jobNumber, siteNumber, taskId }) {
      const lanes = `${jobNumber}:${siteNumber}:`;
      for (let cursor = "0"; ; ) {
        const reply = await shard.run("find-lease", cursor, STRETCH, lanes, encodeUrl(url, site), taskId);
        const [, next, id, worker, leaseUntil] = reply;
        if (id !== undefined) return { worker: String(worker), leaseUntil: Number(leaseUntil) };
        cursor = String(next);
        if (cursor === "0") return undefined;
      }
    },
    async findWaiting(sought) {
      for (const lane of await lanesOf(sought)) {
        for (const place of PLACES) {
          const found = await findIn(sought, lane, place);
          if (found !== undefined) return found;
        }
      }
      return undefined;
    },
  };
}

/** Lanes of the job at the site; a lane is named job:site:priority:queue. */
async function lanesOf({ shard, jobNumber, siteNumber }: Sought): Promise<string[]> {
  const lanes: string[] = [];
  const start = `${jobNumber}:${siteNumber}:`;
  const key = shard.key("job-lanes", jobNumber);
  for (let cursor = "0"; ; ) {
    const [next, page] = (await shard.ask("ZSCAN", key, cursor, "MATCH", `${start}*`, "COUNT", STRETCH)) as [
      string,
      string[],
    ];
    lanes.push(...page.filter((word) => word.startsWith(start)));
    cursor = next;
    if (cursor === "0") return lanes;
  }
}

async function findIn(
  { shard, url, site, taskId }: Sought,
  lane: string,
  place: (typeof PLACES)[number],
): Promise<FoundWaiting | undefined> {
  for (let from = 0; ; from += STRETCH) {
    const reply = await shard.run("find-task", place, lane, from, STRETCH, encodeUrl(url, site), taskId);
    const [, looked, id, failures, notBefore, history] = reply;
    if (id !== undefined) {
      return {
        queue: lane.split(":").slice(3).join(":"),
        notBefore: notBefore === "" ? undefined : Number(notBefore),
        failures: Number(failures),
        history: String(history),
      };
    }
    if (Number(looked) < STRETCH) return undefined;
  }
}
