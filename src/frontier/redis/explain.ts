/** Collects the facts about a wait from Redis; explain.ts of the frontier turns them into sentences (F16). */
import { offlineSite } from "../../domain/offline-site.ts";
import { siteOf } from "../../domain/site.ts";
import { stepOf } from "../../domain/task-url.ts";
import type { Clock } from "../../runtime/clock.ts";
import {
  explainJob,
  explainSite,
  explainUrl,
  type JobFacts,
  RATE_SETTER_SITES_MAX,
  type SiteFacts,
  type TaskFacts,
} from "../explain.ts";
import type { Explanation, FrontierAdmin } from "../frontier-admin.ts";
import { jobNotFound } from "../job-errors.ts";
import type { Shard, Shards } from "./cluster/shards.ts";
import { encodeFingerprint } from "./codec/codec.ts";
import { decodeJobs, type JobRow } from "./codec/job-rows.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";
import { type DeadLetters, decodeHistory } from "./dead.ts";
import type { Jobs } from "./jobs.ts";
import type { SiteRecord, Sites } from "./sites.ts";
import { createTaskFinder, type TaskTarget } from "./task-finder.ts";

type Deps = { shards: Shards; jobs: Jobs; sites: Sites; dead: DeadLetters; time: BrokerClock; clock: Clock };

const MAX_JOBS = 20;
const MAX_SITES = 20;
/** Max lanes of a job that are read to find its sites. */
const MAX_LANES = 500;

export function createExplain(deps: Deps): FrontierAdmin["explain"] {
  const { shards, jobs, sites, dead, time, clock } = deps;
  const finder = createTaskFinder();

  async function factsOfUrl(url: string): Promise<TaskFacts[]> {
    const found = await Promise.all(shards.all.map((shard) => factsOfUrlOn(shard, url)));
    return found.flat().slice(0, MAX_JOBS);
  }

  async function factsOfUrlOn(shard: Shard, url: string): Promise<TaskFacts[]> {
    const facts: TaskFacts[] = [];
    for (let below = ""; ; ) {
      const reply = await shard.run("find-url", encodeFingerprint(url), below, MAX_JOBS);
      for (let at = 2; at < reply.length; at += 2) {
        const found = { url, jobNumber: String(reply[at]), taskId: String(reply[at + 1]) };
        facts.push(...(await factsOf(shard, found)));
      }
      below = String(reply[1]);
      if (below === "" || facts.length >= MAX_JOBS) return facts;
    }
  }

  type Found = { url: string; jobNumber: string; taskId: string };

  async function factsOf(shard: Shard, { url, jobNumber, taskId }: Found): Promise<TaskFacts[]> {
    const [row] = decodeJobs(await shard.run("find-job", "", jobNumber));
    const whole = row === undefined ? undefined : await jobs.find(row.id);
    // A shared dedup scope still has URLs of forgotten jobs.
    if (whole === undefined) return [];
    const job = jobFacts(whole);
    // A site is a host or a registrable domain, depending on the job; both are tried.
    const hosts = [...new Set([siteOf(url, "host"), siteOf(url, "domain")])];
    const names = stepOf(url) === "parse" ? hosts.map(offlineSite) : hosts;
    for (const site of await sites.facts(shard, "names", names)) {
      const facts = await factsAt({ shard, url, jobNumber, taskId, site: site.site, siteNumber: site.n }, job, site);
      if (facts !== undefined) return [facts];
    }
    return [{ state: "ended", job }];
  }

  async function factsAt(target: TaskTarget, job: JobFacts, site: SiteRecord): Promise<TaskFacts | undefined> {
    const lease = await finder.findLease(target);
    if (lease !== undefined) {
      return { state: "leased", worker: lease.worker, leaseUntil: time.toLocal(lease.leaseUntil), job };
    }
    const letter = job.counts.dead === 0 ? undefined : await dead.find(target.shard, job.id, target);
    if (letter !== undefined) {
      const { reason, history } = letter;
      return { state: "dead", reason, attempts: history.length, last: history.at(-1), job };
    }
    const waiting = await finder.findWaiting(target);
    if (waiting === undefined) return undefined;
    const { queue, notBefore, failures, history } = waiting;
    const facts = await withJobs(site);
    if (notBefore === undefined) return { state: "queued", queue, job, site: facts };
    const last = decodeHistory(history === "" ? "[]" : history, time).at(-1);
    return { state: "delayed", queue, job, site: facts, notBefore: time.toLocal(notBefore), failures, last };
  }

  async function withJobs(site: SiteRecord): Promise<SiteFacts> {
    return { ...site, jobs: await sites.jobsAt(site.site) };
  }

  async function sitesOfJob(shard: Shard, jobId: string): Promise<SiteRecord[]> {
    const [row] = decodeJobs(await shard.run("find-job", jobId, ""));
    const lanes = (await shard.read("ZRANGE", shard.key("job-lanes", row?.n ?? 0), 0, MAX_LANES - 1)) as string[];
    const numbers = [...new Set(lanes.map((lane) => Number(lane.split(":")[1])))].sort((one, other) => one - other);
    return sites.facts(shard, "numbers", numbers.slice(0, MAX_SITES));
  }

  return async (target, visibility): Promise<Explanation> => {
    if ("url" in target) return explainUrl(target.url, await factsOfUrl(target.url), clock.now(), visibility);
    if ("site" in target) {
      const [site] = await sites.facts(shards.ofSite(target.site), "names", [target.site]);
      return explainSite(target.site, site && (await withJobs(site)), clock.now());
    }
    const row = await jobs.find(target.jobId);
    if (row === undefined) throw jobNotFound(target.jobId, "frontier.explain");
    const found = await Promise.all(shards.all.map((shard) => sitesOfJob(shard, target.jobId)));
    const facts = await Promise.all(
      found
        .flat()
        .slice(0, MAX_SITES)
        .map((site, nth) => (nth < RATE_SETTER_SITES_MAX ? withJobs(site) : { ...site, jobs: [] })),
    );
    return explainJob(jobFacts(row), facts, clock.now(), visibility);
  };
}

function jobFacts({ id, queue, state, sealed, counts, retriesMax }: JobRow): JobFacts {
  return { id, queue, state, sealed, counts, retriesMax };
}
