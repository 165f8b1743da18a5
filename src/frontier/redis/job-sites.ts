/** How a job stands at its sites, on all shards together. */
import { BATCH_MOST, type Tally } from "../frontier.ts";
import type { JobSiteView } from "../frontier-admin.ts";
import type { Reply } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";
import type { Shards } from "./shards.ts";

/** As list-job-sites replies. */
const FIELDS = 11;

/**
 * By name. What is fetched of a site and what is parsed of it may be on two shards; each answers with its first `limit` after
 * `after`, so that of the first `limit` of all nothing is missing.
 */
export async function listJobSites(
  shards: Shards,
  jobId: string,
  limit: number,
  after: string,
): Promise<JobSiteView[]> {
  const most = Math.min(limit, BATCH_MOST);
  const parts = await Promise.all(
    shards.all.map(async (shard) => readSites(await shard.run("list-job-sites", jobId, most, after), shard.time)),
  );
  const views = new Map<string, JobSiteView>();
  for (const view of parts.flat()) {
    const other = views.get(view.site);
    views.set(view.site, other === undefined ? view : together(view, other));
  }
  return [...views.values()].sort((one, other) => (one.site < other.site ? -1 : 1)).slice(0, most);
}

function readSites(reply: Reply, time: BrokerTime): JobSiteView[] {
  const views: JobSiteView[] = [];
  for (let at = 1; at + FIELDS <= reply.length; at += FIELDS) {
    const numbers = reply.slice(at + 1, at + 9).map(Number);
    const [waiting = 0, inFlight = 0, done = 0, dead = 0, pages = 0, records = 0, invalid = 0, bytes = 0] = numbers;
    const [lastPageAt, blockedUntil] = [String(reply[at + 9]), Number(reply[at + 10])];
    views.push({
      ...{ site: String(reply[at]), waiting, inFlight, done, dead, tally: { pages, records, invalid, bytes } },
      lastPageAt: lastPageAt === "" ? undefined : time.toHere(Number(lastPageAt)),
      blockedUntil: blockedUntil <= 0 ? 0 : time.toHere(blockedUntil),
    });
  }
  return views;
}

function together(one: JobSiteView, other: JobSiteView): JobSiteView {
  const names = ["pages", "records", "invalid", "bytes"] as const;
  const pageTimes = [one.lastPageAt, other.lastPageAt].filter((at) => at !== undefined);
  return {
    site: one.site,
    waiting: one.waiting + other.waiting,
    inFlight: one.inFlight + other.inFlight,
    done: one.done + other.done,
    dead: one.dead + other.dead,
    tally: Object.fromEntries(names.map((name) => [name, one.tally[name] + other.tally[name]])) as Tally,
    lastPageAt: pageTimes.length === 0 ? undefined : Math.max(...pageTimes),
    blockedUntil: Math.max(one.blockedUntil, other.blockedUntil),
  };
}
