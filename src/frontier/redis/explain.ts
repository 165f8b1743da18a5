/** Puts together what explain.ts of the frontier needs to say why something waits (F16). */
import { offlineSite } from "../../domain/offline-site.ts";
import { siteOf } from "../../domain/site.ts";
import { stepOf } from "../../domain/step-url.ts";
import type { Clock } from "../../runtime/clock.ts";
import {
  explainJob,
  explainSite,
  explainUrl,
  type JobFacts,
  type SiteFacts,
  type TaskFacts,
  WHOSE_RATE_MOST,
} from "../explain.ts";
import type { Explanation, FrontierAdmin } from "../frontier-admin.ts";
import { jobMissing } from "../job-missing.ts";
import type { BrokerTime } from "./broker-time.ts";
import { type DeadLetters, readHistory } from "./dead.ts";
import { type JobRow, readJobs } from "./job-rows.ts";
import type { Jobs } from "./jobs.ts";
import type { Shard, Shards } from "./shards.ts";
import type { NumberedFacts, Sites } from "./sites.ts";
import { createTaskFinder, type Sought } from "./task-finder.ts";
import { fingerprintWord } from "./words.ts";

type Deps = { shards: Shards; jobs: Jobs; sites: Sites; dead: DeadLetters; time: BrokerTime; clock: Clock };

const JOBS_MOST = 20;
const SITES_MOST = 20;
/** Lanes of a job that are looked at for its sites. */
const LANES_MOST = 500;

export function createInspector(deps: Deps): FrontierAdmin["explain"] {
  const { shards, jobs, sites, dead, time, clock } = deps;
  const finder = createTaskFinder();

  async function ofUrl(url: string): Promise<TaskFacts[]> {
    const found = await Promise.all(shards.all.map((shard) => ofUrlOn(shard, url)));
    return found.flat().slice(0, JOBS_MOST);
  }

  async function ofUrlOn(shard: Shard, url: string): Promise<TaskFacts[]> {
    const facts: TaskFacts[] = [];
    for (let below = ""; ; ) {
      const reply = await shard.run("find-url", fingerprintWord(url), below, JOBS_MOST);
      for (let at = 2; at < reply.length; at += 2) {
        const found = { url, jobNumber: String(reply[at]), taskId: String(reply[at + 1]) };
        facts.push(...(await factsOf(shard, found)));
      }
      below = String(reply[1]);
      if (below === "" || facts.length >= JOBS_MOST) return facts;
    }
  }

  type Found = { url: string; jobNumber: string; taskId: string };

  async function factsOf(shard: Shard, { url, jobNumber, taskId }: Found): Promise<TaskFacts[]> {
    const [row] = readJobs(await shard.run("find-job", "", jobNumber));
    const whole = row === undefined ? undefined : await jobs.find(row.id);
    // A set that jobs share remembers URLs of jobs that are forgotten.
    if (whole === undefined) return [];
    const job = jobFacts(whole);
    // A site is a host or a registrable domain: whoever queued the URL knew which.
    const hosts = [...new Set([siteOf(url, "host"), siteOf(url, "domain")])];
    const names = stepOf(url) === "parse" ? hosts.map(offlineSite) : hosts;
    for (const site of await sites.facts(shard, "names", names)) {
      const facts = await factsAt({ shard, url, jobNumber, taskId, site: site.site, siteNumber: site.n }, job, site);
      if (facts !== undefined) return [facts];
    }
    return [{ state: "ended", job }];
  }

  async function factsAt(sought: Sought, job: JobFacts, site: NumberedFacts): Promise<TaskFacts | undefined> {
    const lease = await finder.findLease(sought);
    if (lease !== undefined) {
      return { state: "leased", worker: lease.worker, leaseUntil: time.toHere(lease.leaseUntil), job };
    }
    const letter = job.counts.dead === 0 ? undefined : await dead.find(sought.shard, job.id, sought);
    if (letter !== undefined) {
      const { reason, history } = letter;
      return { state: "dead", reason, tries: history.length, last: history.at(-1), job };
    }
    const waiting = await finder.findWaiting(sought);
    if (waiting === undefined) return undefined;
    const { queue, notBefore, failures, history } = waiting;
    const facts = await withJobs(site);
    if (notBefore === undefined) return { state: "queued", queue, job, site: facts };
    const last = readHistory(history === "" ? "[]" : history, time).at(-1);
    return { state: "delayed", queue, job, site: facts, notBefore: time.toHere(notBefore), failures, last };
  }

  async function withJobs(site: NumberedFacts): Promise<SiteFacts> {
    return { ...site, jobs: await sites.jobsAt(site.site) };
  }

  async function sitesOfJob(shard: Shard, jobId: string): Promise<NumberedFacts[]> {
    const [row] = readJobs(await shard.run("find-job", jobId, ""));
    const lanes = (await shard.ask("ZRANGE", shard.key("job-lanes", row?.n ?? 0), 0, LANES_MOST - 1)) as string[];
    const numbers = [...new Set(lanes.map((lane) => Number(lane.split(":")[1])))].sort((one, other) => one - other);
    return sites.facts(shard, "numbers", numbers.slice(0, SITES_MOST));
  }

  return async (target, hearing): Promise<Explanation> => {
    if ("url" in target) return explainUrl(target.url, await ofUrl(target.url), clock.now(), hearing);
    if ("site" in target) {
      const [site] = await sites.facts(shards.ofSite(target.site), "names", [target.site]);
      return explainSite(target.site, site && (await withJobs(site)), clock.now());
    }
    const row = await jobs.find(target.jobId);
    if (row === undefined) throw jobMissing(target.jobId, "frontier.explain");
    const found = await Promise.all(shards.all.map((shard) => sitesOfJob(shard, target.jobId)));
    const facts = await Promise.all(
      found
        .flat()
        .slice(0, SITES_MOST)
        .map((site, nth) => (nth < WHOSE_RATE_MOST ? withJobs(site) : { ...site, jobs: [] })),
    );
    return explainJob(jobFacts(row), facts, clock.now(), hearing);
  };
}

function jobFacts({ id, state, sealed, counts, retriesMax }: JobRow): JobFacts {
  return { id, state, sealed, counts, retriesMax };
}
