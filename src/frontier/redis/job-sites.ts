/** The counters of a job at each of its sites, summed over all shards. */
import { MAX_BATCH, type Tally } from "../frontier.ts";
import type { JobSiteView } from "../frontier-admin.ts";
import type { Shards } from "./cluster/shards.ts";
import { decodeCause } from "./codec/codec.ts";
import type { Reply } from "./connection/broker-client.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";

/** Values per site in a reply of list-job-sites. */
const FIELDS = 12;

/**
 * Lists the sites of a job, by name. A site and its offline site may be on different shards, so the counters of both
 * are added. Each shard returns its first `limit` sites after `after`, so the first `limit` of all shards are complete.
 */
export async function listJobSites(
  shards: Shards,
  jobId: string,
  limit: number,
  after: string,
): Promise<JobSiteView[]> {
  const max = Math.min(limit, MAX_BATCH);
  const parts = await Promise.all(
    shards.all.map(async (shard) => decodeSites(await shard.run("list-job-sites", jobId, max, after), shard.time)),
  );
  const views = new Map<string, JobSiteView>();
  for (const view of parts.flat()) {
    const other = views.get(view.site);
    views.set(view.site, other === undefined ? view : addCounters(view, other));
  }
  return [...views.values()].sort((one, other) => (one.site < other.site ? -1 : 1)).slice(0, max);
}

function decodeSites(reply: Reply, time: BrokerClock): JobSiteView[] {
  const views: JobSiteView[] = [];
  for (let at = 1; at + FIELDS <= reply.length; at += FIELDS) {
    const numbers = reply.slice(at + 1, at + 9).map(Number);
    const [waiting = 0, inFlight = 0, done = 0, dead = 0, pages = 0, records = 0, invalid = 0, bytes = 0] = numbers;
    const [lastPageAt, blockedUntil] = [String(reply[at + 9]), Number(reply[at + 10])];
    views.push({
      ...{ site: String(reply[at]), waiting, inFlight, done, dead, tally: { pages, records, invalid, bytes } },
      lastPageAt: lastPageAt === "" ? undefined : time.toLocal(Number(lastPageAt)),
      blockedUntil: blockedUntil <= 0 ? 0 : time.toLocal(blockedUntil),
      backoffCause: decodeCause(reply[at + 11]),
    });
  }
  return views;
}

function addCounters(one: JobSiteView, other: JobSiteView): JobSiteView {
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
    // Only one of the two is the online site, and only that has a backoff.
    blockedUntil: Math.max(one.blockedUntil, other.blockedUntil),
    backoffCause: one.backoffCause ?? other.backoffCause,
  };
}
