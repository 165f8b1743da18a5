/** Puts into words why something waits (F16). Pure: backends bring the facts, so that all of them say the same. */
import { WHY_A_SITE_RESTS } from "../domain/backoff.ts";
import { formatCount, plural } from "../domain/counted.ts";
import { formatDuration } from "../domain/duration.ts";
import type { JobState, Ledger } from "../domain/job.ts";
import { onlineSite } from "../domain/offline-site.ts";
import type { SitePolicy } from "../domain/politeness.ts";
import { formatRate } from "../domain/rate.ts";
import { stepOf } from "../domain/step-url.ts";
import { baseQueue } from "./frontier.ts";
import type { Explanation, Hearing, Misfortune, SiteJobView } from "./frontier-admin.ts";

export type SiteFacts = {
  site: string;
  policy: SitePolicy;
  inFlight: number;
  /** When the rate allows the next request. */
  rateReadyAt: number;
  blockedUntil: number;
  crawlDelayMs: number;
  /** Whether a worker is bringing robots.txt: nothing else goes to the site until it has. */
  isAskingRobots: boolean;
  waiting: number;
  /** The operator's word, which then is the policy. */
  operator: SitePolicy | undefined;
  /** Those with something there, the most first. Of a job's sites only the first WHOSE_RATE_MOST need them. */
  jobs: readonly SiteJobView[];
};

/** Of so many sites of a job it is said whose rate they have: finding that out goes through the jobs there. */
export const WHOSE_RATE_MOST = 5;

export type JobFacts = { id: string; state: JobState; sealed: boolean; counts: Ledger; retriesMax: number };

export type TaskFacts =
  | { state: "queued"; queue: string; job: JobFacts; site: SiteFacts }
  | {
      state: "delayed";
      queue: string;
      job: JobFacts;
      site: SiteFacts;
      notBefore: number;
      failures: number;
      /** Undefined where it was replayed at a rate: it begins anew. */
      last: Misfortune | undefined;
    }
  | { state: "leased"; worker: string; leaseUntil: number; job: JobFacts }
  | { state: "dead"; reason: string; tries: number; last: Misfortune | undefined; job: JobFacts }
  | { state: "ended"; job: JobFacts };

/** Why one URL waits, in each job that has it. */
export function explainUrl(url: string, tasks: readonly TaskFacts[], now: number, hearing?: Hearing): Explanation {
  if (tasks.length === 0)
    return { about: url, reasons: ["no job here has seen this URL"], until: undefined, tasks: [], queues: [] };
  const done = stepOf(url) === "parse" ? "parsed" : "fetched";
  const parts = tasks.map((task) => explainTask(task, done, { now, hearing }));
  return {
    about: url,
    reasons: parts.flatMap((part) => part.reasons),
    until: earliest(parts.map((part) => part.until)),
    tasks: tasks.map(({ job, state }) => ({ jobId: job.id, state })),
    queues: [...new Set(parts.flatMap(({ queue }) => queue ?? []))],
  };
}

/** Why a site is not being hit right now. */
export function explainSite(name: string, site: SiteFacts | undefined, now: number): Explanation {
  if (site === undefined)
    return { about: name, reasons: ["no job here has met this site"], until: undefined, tasks: [], queues: [] };
  const { reasons, until } = siteWait(site, { now, hearing: "all" });
  const limits = `allowed: ${rateWords(site)}, ${site.policy.perSite} at once; ${site.inFlight} under way, ${formatCount(site.waiting)} waiting`;
  const words = [...(reasons.length > 0 ? reasons : ["may be hit now"]), limits, ...setterOfSite(site)];
  return { about: name, reasons: words, until, tasks: [], queues: [] };
}

/** What holds a job up. */
export function explainJob(job: JobFacts, sites: readonly SiteFacts[], now: number, hearing?: Hearing): Explanation {
  const { queued, delayed, leased } = job.counts;
  const whole = { about: `job ${job.id}`, tasks: [], queues: [] };
  if (job.state === "paused") return { ...whole, reasons: [pausedWords(job), ...openWords(job)], until: undefined };
  if (job.state !== "running") return { ...whole, reasons: [`is ${job.state}: nothing of it waits`], until: undefined };
  const waits = sites
    .map((site) => ({ site, ...siteWait(site, { now, hearing }) }))
    .filter((wait) => wait.reasons.length > 0);
  const reasons = [
    `is running: ${formatCount(queued)} queued, ${formatCount(delayed)} waiting for a retry, ${formatCount(leased)} being fetched`,
    ...openWords(job),
    ...waits.flatMap(({ site, reasons: why }) => why.map((reason) => `${site.site}: ${reason}`)),
    ...sites
      .slice(0, WHOSE_RATE_MOST)
      .flatMap((site) => whoseRate(site, job, hearing).map((words) => `${site.site}: ${words}`)),
  ];
  return { ...whole, reasons, until: earliest(waits.map((wait) => wait.until)) };
}

/** A name is the user's, and may be a whole URL. */
const NAME_MOST = 60;

/** When it is told, and how much of it. */
type Telling = { now: number; hearing: Hearing | undefined };

/** `queue`: where it waits for nothing but a free worker. */
type Wait = { reasons: string[]; until: number | undefined; queue?: string };

/** `done`: what is done with it, as a participle. */
function explainTask(task: TaskFacts, done: string, telling: Telling): Wait {
  const { now, hearing } = telling;
  const inJob = `in job ${task.job.id}: `;
  switch (task.state) {
    case "leased":
      return {
        reasons: [`${inJob}is being ${done}${byWhom(task.worker, hearing)} ends ${at(task.leaseUntil, now)}`],
        until: task.leaseUntil,
      };
    case "dead":
      return {
        reasons: [`${inJob}was given up on ${triesWords(task, now)}: ${misfortune(task.reason, task.last)}`],
        until: undefined,
      };
    case "ended":
      return { reasons: [`${inJob}has been dealt with`], until: undefined };
    case "queued":
    case "delayed":
      return waitingTask(task, { inJob, done }, telling);
  }
}

function waitingTask(
  task: TaskFacts & { state: "queued" | "delayed" },
  { inJob, done }: { inJob: string; done: string },
  telling: Telling,
): Wait {
  const { now, hearing } = telling;
  if (task.job.state === "paused") return { reasons: [inJob + pausedWords(task.job)], until: undefined };
  const wait = siteWait(task.site, telling);
  const whose = wait.reasons.length > 0 ? whoseRate(task.site, task.job, hearing) : [];
  const reasons = [...wait.reasons, ...whose].map((reason) => inJob + reason);
  if (task.state === "delayed" && task.notBefore > now) {
    reasons.unshift(inJob + delayWords(task, now));
    return { reasons, until: Math.max(task.notBefore, wait.until ?? 0) };
  }
  const isSuspect = task.queue !== baseQueue(task.queue);
  if (isSuspect) reasons.unshift(`${inJob}waits to be run alone: two workers have died while they held it`);
  if (wait.reasons.length > 0) return { reasons, until: wait.until };
  if (isSuspect) return { reasons, until: now };
  const { waiting, site } = task.site;
  const ahead = hearing === "own" ? "" : ` (${formatCount(waiting)} waiting at ${onlineSite(site)})`;
  return {
    reasons: [`${inJob}may be ${done} now; waits for a free worker on queue ${task.queue}${ahead}`],
    until: now,
    queue: task.queue,
  };
}

function byWhom(worker: string, hearing: Hearing | undefined): string {
  return hearing === "own" ? "; its lease" : ` by ${worker}, whose lease`;
}

function delayWords({ notBefore, failures, last, job }: TaskFacts & { state: "delayed" }, now: number): string {
  if (last === undefined) return `was replayed at a rate, and its turn comes ${at(notBefore, now)}`;
  const count = `retry ${failures} of ${job.retriesMax}`;
  return `${count} waits until ${at(notBefore, now)} after ${misfortune(last.because, last)}`;
}

function siteWait(site: SiteFacts, { now, hearing }: Telling): Wait {
  const reasons: string[] = [];
  if (site.blockedUntil > now) {
    reasons.push(`the site rests until ${at(site.blockedUntil, now)}: ${WHY_A_SITE_RESTS}`);
  }
  if (site.inFlight >= site.policy.perSite) {
    reasons.push(`${site.inFlight} of ${site.policy.perSite} requests allowed at once are under way`);
  }
  if (site.isAskingRobots) reasons.push("its robots.txt is being fetched");
  if (site.rateReadyAt > now) {
    reasons.push(
      `its rate of ${rateWords(site)} allows the next request ${at(site.rateReadyAt, now)}${hearing === "own" ? "" : crowdWords(site)}`,
    );
  }
  const times = [site.blockedUntil, site.rateReadyAt].filter((time) => time > now);
  return { reasons, until: times.length === 0 ? undefined : Math.max(...times) };
}

/** How long it takes until all that wait have had their turn, if nothing else is in their way. */
function crowdWords({ waiting, policy }: SiteFacts): string {
  if (waiting < 2) return "";
  return `; ${formatCount(waiting)} wait for it, about ${formatDuration(waiting * policy.intervalMs)} at this rate`;
}

/** Said where a job does not get the rate that it asks for; of a crawl-delay, rateWords tells. */
function whoseRate(site: SiteFacts, job: JobFacts, hearing: Hearing | undefined): string[] {
  const asked = site.jobs.find(({ jobId }) => jobId === job.id)?.policy;
  if (asked === undefined || asked.intervalMs === site.policy.intervalMs || isByRobots(site)) return [];
  const setter = site.operator === undefined && hearing === "own" ? "another job there" : setterWords(site);
  return [
    `its rate (${formatRate(site.policy.intervalMs)}) is set by ${setter}; this job asks for ${formatRate(asked.intervalMs)}`,
  ];
}

function setterOfSite(site: SiteFacts): string[] {
  const isAgreed = jobsWithSay(site).every(({ policy }) => policy.intervalMs === site.policy.intervalMs);
  if (site.operator === undefined && (isAgreed || isByRobots(site))) return [];
  return [`its rate (${formatRate(site.policy.intervalMs)}) is set by ${setterWords(site)}`];
}

function setterWords(site: SiteFacts): string {
  if (site.operator !== undefined) return "an operator";
  const all = jobsWithSay(site);
  const [first, ...more] = all.filter(({ policy }) => policy.intervalMs === site.policy.intervalMs);
  if (first === undefined) return "another job there";
  const name = first.name === "" ? "" : ` (${first.name.slice(0, NAME_MOST)})`;
  const others = more.length === 0 ? "" : ` and ${formatCount(more.length)} more`;
  return `job ${first.jobId}${name}${others}, the strictest of ${plural(all.length, "job")} here`;
}

/** What a paused job asks for does not count. */
function jobsWithSay({ jobs }: SiteFacts): SiteJobView[] {
  return jobs.filter(({ state }) => state !== "paused");
}

function triesWords({ tries, last }: TaskFacts & { state: "dead" }, now: number): string {
  const after = `after ${plural(tries, "try", "tries")}`;
  return last === undefined ? after : `${formatDuration(Math.max(0, now - last.at))} ago, ${after}`;
}

function rateWords(site: SiteFacts): string {
  return formatRate(site.policy.intervalMs) + (isByRobots(site) ? " (robots.txt crawl-delay)" : "");
}

function isByRobots({ policy, crawlDelayMs, operator }: SiteFacts): boolean {
  return operator === undefined && crawlDelayMs > 0 && crawlDelayMs === policy.intervalMs;
}

function pausedWords(job: JobFacts): string {
  return `the job is paused; go on with: trawl resume ${job.id}`;
}

/** Of a job whose list has been cut off nothing may wait, and it is not over. */
function openWords({ id, sealed }: JobFacts): string[] {
  if (sealed) return [];
  const goOn = `trawl submit --resume ${id} LIST (a crawl: trawl crawl --resume)`;
  return [`its URLs are not all in: it is being submitted, or that was cut short; then go on with: ${goOn}`];
}

function misfortune(reason: string, last: Misfortune | undefined): string {
  const status = last?.status === undefined ? "" : ` (status ${last.status})`;
  const detail = last?.detail === undefined ? "" : `: ${last.detail}`;
  return `${reason}${status}${detail}`;
}

function at(time: number, now: number): string {
  return `${new Date(time).toISOString()} (in ${formatDuration(Math.max(0, time - now))})`;
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
