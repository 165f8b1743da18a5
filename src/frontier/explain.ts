/**
 * Turns facts about a wait into sentences for users (F16). The backends only collect the facts, so all backends return
 * the same sentences.
 */
import { type BackoffCause, describeBackoff } from "../domain/backoff.ts";
import { isCrawl } from "../domain/crawl-queue.ts";
import { formatDuration } from "../domain/duration.ts";
import { formatCount, plural } from "../domain/format-number.ts";
import type { JobState, Ledger } from "../domain/job.ts";
import { onlineSite } from "../domain/offline-site.ts";
import { concurrencyOf, type SitePolicy } from "../domain/politeness.ts";
import { formatRate } from "../domain/rate.ts";
import { adaptiveRules } from "../domain/site-rules.ts";
import { stepOf } from "../domain/task-url.ts";
import { baseQueue } from "./frontier.ts";
import type { AdaptiveView, Explanation, FailedAttempt, SiteJobView, Visibility } from "./frontier-admin.ts";

export type SiteFacts = AdaptiveView & {
  site: string;
  policy: SitePolicy;
  inFlight: number;
  /** When the rate allows the next request. */
  rateReadyAt: number;
  blockedUntil: number;
  backoffCause: BackoffCause | undefined;
  /** Number of backoffs in a row. */
  incidents: number;
  crawlDelayMs: number;
  /** Whether a worker is fetching robots.txt. Until it has the file, no other request is sent to the site. */
  isFetchingRobots: boolean;
  waiting: number;
  /** The last term, unless it was returned. Until it ends, only its worker sends requests to the site. */
  term: { worker: string; endsAt: number } | undefined;
  /** The operator's policy, which overrides all others. */
  operator: SitePolicy | undefined;
  /**
   * Jobs with tasks at the site, most waiting first. To explain a job, only its first RATE_SETTER_SITES_MAX sites need
   * this list.
   */
  jobs: readonly SiteJobView[];
};

/**
 * For how many sites of a job the explanation names the job or operator that sets the rate. Each site needs a scan of
 * the jobs.
 */
export const RATE_SETTER_SITES_MAX = 5;

export type JobFacts = {
  id: string;
  queue: string;
  state: JobState;
  sealed: boolean;
  counts: Ledger;
  retriesMax: number;
};

export type TaskFacts =
  | { state: "queued"; queue: string; job: JobFacts; site: SiteFacts }
  | {
      state: "delayed";
      queue: string;
      job: JobFacts;
      site: SiteFacts;
      notBefore: number;
      failures: number;
      /** Undefined if the task was replayed at a rate: its history is empty then. */
      last: FailedAttempt | undefined;
    }
  | { state: "leased"; worker: string; leaseUntil: number; job: JobFacts }
  | { state: "dead"; reason: string; attempts: number; last: FailedAttempt | undefined; job: JobFacts }
  | { state: "ended"; job: JobFacts };

/** Why a URL waits, in each job that has it. */
export function explainUrl(
  url: string,
  tasks: readonly TaskFacts[],
  now: number,
  visibility?: Visibility,
): Explanation {
  if (tasks.length === 0)
    return { about: url, reasons: ["no job has seen this URL"], until: undefined, tasks: [], queues: [] };
  const done = stepOf(url) === "parse" ? "parsed" : "fetched";
  const parts = tasks.map((task) => explainTask(task, done, { now, visibility }));
  return {
    about: url,
    reasons: parts.flatMap((part) => part.reasons),
    until: earliest(parts.map((part) => part.until)),
    tasks: tasks.map(({ job, state }) => ({ jobId: job.id, state })),
    queues: [...new Set(parts.flatMap(({ queue }) => queue ?? []))],
  };
}

/** Why no request is sent to a site now. */
export function explainSite(name: string, site: SiteFacts | undefined, now: number): Explanation {
  if (site === undefined)
    return { about: name, reasons: ["no job has used this site"], until: undefined, tasks: [], queues: [] };
  const { reasons, until } = siteWait(site, { now, visibility: "all" });
  const limits = `limits: ${rateText(site)}, ${site.policy.perSite} concurrent; ${site.inFlight} in flight, ${formatCount(site.waiting)} waiting`;
  const state = reasons.length > 0 ? reasons : ["a request to the site is allowed now"];
  const lines = [...state, ...adaptiveRules(site, now), limits, ...setterOfSite(site)];
  return { about: name, reasons: lines, until, tasks: [], queues: [] };
}

/** Why the tasks of a job wait. */
export function explainJob(
  job: JobFacts,
  sites: readonly SiteFacts[],
  now: number,
  visibility?: Visibility,
): Explanation {
  const { queued, delayed, leased } = job.counts;
  const base = { about: `job ${job.id}`, tasks: [], queues: [] };
  if (job.state === "paused") return { ...base, reasons: [pausedText(job), ...unsealedText(job)], until: undefined };
  if (job.state !== "running")
    return { ...base, reasons: [`the job is ${job.state}; no tasks are waiting`], until: undefined };
  const waits = sites
    .map((site) => ({ site, ...siteWait(site, { now, visibility }) }))
    .filter((wait) => wait.reasons.length > 0);
  const reasons = [
    `the job is running: ${formatCount(queued)} queued, ${formatCount(delayed)} waiting for a retry, ${formatCount(leased)} being fetched`,
    ...unsealedText(job),
    ...waits.flatMap(({ site, reasons: why }) => why.map((reason) => `${site.site}: ${reason}`)),
    ...sites.flatMap((site) => adaptiveRules(site, now).map((rule) => `${site.site}: ${rule}`)),
    ...sites
      .slice(0, RATE_SETTER_SITES_MAX)
      .flatMap((site) => rateSetter(site, job, visibility).map((text) => `${site.site}: ${text}`)),
  ];
  return { ...base, reasons, until: earliest(waits.map((wait) => wait.until)) };
}

/** Max characters of a job name in a sentence. Users choose the names, which may be whole URLs. */
const MAX_NAME = 60;

type Viewer = { now: number; visibility: Visibility | undefined };

/** `queue`: set if the task waits only for a free worker of that queue. */
type Wait = { reasons: string[]; until: number | undefined; queue?: string };

/** `done`: the word for what happens to the URL, "fetched" or "parsed". */
function explainTask(task: TaskFacts, done: string, viewer: Viewer): Wait {
  const { now, visibility } = viewer;
  const inJob = `in job ${task.job.id}: `;
  switch (task.state) {
    case "leased":
      return {
        reasons: [
          `${inJob}is being ${done}${byWorker(task.worker, visibility)}; the lease ends at ${at(task.leaseUntil, now)}`,
        ],
        until: task.leaseUntil,
      };
    case "dead":
      return {
        reasons: [`${inJob}failed ${attemptsText(task, now)}: ${failureText(task.reason, task.last)}`],
        until: undefined,
      };
    case "ended":
      return { reasons: [`${inJob}has ended (done, refused or cancelled)`], until: undefined };
    case "queued":
    case "delayed":
      return waitingTask(task, { inJob, done }, viewer);
  }
}

function waitingTask(
  task: TaskFacts & { state: "queued" | "delayed" },
  { inJob, done }: { inJob: string; done: string },
  viewer: Viewer,
): Wait {
  const { now, visibility } = viewer;
  if (task.job.state === "paused") return { reasons: [inJob + pausedText(task.job)], until: undefined };
  const wait = siteWait(task.site, viewer);
  const setter = wait.reasons.length > 0 ? rateSetter(task.site, task.job, visibility) : [];
  const rules = wait.reasons.length > 0 ? adaptiveRules(task.site, now) : [];
  const reasons = [...wait.reasons, ...rules, ...setter].map((reason) => inJob + reason);
  if (task.state === "delayed" && task.notBefore > now) {
    reasons.unshift(inJob + delayText(task, now));
    return { reasons, until: Math.max(task.notBefore, wait.until ?? 0) };
  }
  const isSuspect = task.queue !== baseQueue(task.queue);
  if (isSuspect) reasons.unshift(`${inJob}waits to run alone: two workers crashed while they ran it`);
  if (wait.reasons.length > 0) return { reasons, until: wait.until };
  if (isSuspect) return { reasons, until: now };
  const { waiting, site } = task.site;
  const ahead = visibility === "own" ? "" : ` (${formatCount(waiting)} waiting at ${onlineSite(site)})`;
  return {
    reasons: [`${inJob}may be ${done} now; waits for a free worker on queue ${task.queue}${ahead}`],
    until: now,
    queue: task.queue,
  };
}

function byWorker(worker: string, visibility: Visibility | undefined): string {
  return visibility === "own" ? "" : ` by ${worker}`;
}

function delayText({ notBefore, failures, last, job }: TaskFacts & { state: "delayed" }, now: number): string {
  if (last === undefined) return `was replayed; is due at ${at(notBefore, now)}`;
  const count = `retry ${failures} of ${job.retriesMax}`;
  return `${count} is due at ${at(notBefore, now)}, after ${failureText(last.because, last)}`;
}

function siteWait(site: SiteFacts, { now, visibility }: Viewer): Wait {
  const reasons: string[] = [];
  if (site.blockedUntil > now) {
    reasons.push(`the site is in backoff until ${at(site.blockedUntil, now)}: ${describeBackoff(site.backoffCause)}`);
  }
  const { term } = site;
  const isPaced = term !== undefined && term.endsAt > now;
  const concurrent = concurrencyOf(site.policy.perSite, site.incidents);
  if (!isPaced && site.inFlight >= concurrent) {
    reasons.push(`${site.inFlight} of ${concurrent} concurrent requests to the site are in flight`);
  }
  if (site.isFetchingRobots) reasons.push("the robots.txt of the site is being fetched");
  const queue = visibility === "own" ? "" : queueText(site);
  if (isPaced) {
    const sender = visibility === "own" ? "a worker" : `worker ${term.worker}`;
    reasons.push(`${sender} sends requests to the site, at most ${rateText(site)}${queue}`);
  } else if (site.rateReadyAt > now) {
    reasons.push(
      `the rate of the site, ${rateText(site)}, allows the next request at ${at(site.rateReadyAt, now)}${queue}`,
    );
  }
  const times = [site.blockedUntil, isPaced ? 0 : site.rateReadyAt].filter((time) => time > now);
  return { reasons, until: times.length === 0 ? undefined : Math.max(...times) };
}

/** How long the waiting tasks take at this rate, if nothing else delays them. */
function queueText({ waiting, policy, slowdown }: SiteFacts): string {
  if (waiting < 2) return "";
  const allMs = waiting * policy.intervalMs * slowdown;
  return `; ${formatCount(waiting)} tasks wait, about ${formatDuration(allMs)} at this rate`;
}

/** What determines the rate of a site. */
type RateFacts = Pick<SiteFacts, "policy" | "crawlDelayMs" | "operator" | "jobs">;

/** Names the job or operator that sets the rate, if `job` wants another rate. For a crawl-delay, rateText does that. */
export function rateSetter(site: RateFacts, job: Pick<JobFacts, "id">, visibility: Visibility | undefined): string[] {
  const wanted = site.jobs.find(({ jobId }) => jobId === job.id)?.policy;
  if (wanted === undefined || wanted.intervalMs === site.policy.intervalMs || isByRobots(site)) return [];
  const setter = site.operator === undefined && visibility === "own" ? "another job at this site" : setterText(site);
  return [
    `the rate of the site (${formatRate(site.policy.intervalMs)}) is set by ${setter}; this job wants ${formatRate(wanted.intervalMs)}`,
  ];
}

function setterOfSite(site: SiteFacts): string[] {
  const isAgreed = activeJobs(site).every(({ policy }) => policy.intervalMs === site.policy.intervalMs);
  if (site.operator === undefined && (isAgreed || isByRobots(site))) return [];
  return [`the rate of the site (${formatRate(site.policy.intervalMs)}) is set by ${setterText(site)}`];
}

function setterText(site: RateFacts): string {
  if (site.operator !== undefined) return "an operator";
  const all = activeJobs(site);
  const [first, ...more] = all.filter(({ policy }) => policy.intervalMs === site.policy.intervalMs);
  if (first === undefined) return "another job at this site";
  const name = first.name === "" ? "" : ` (${first.name.slice(0, MAX_NAME)})`;
  const others = more.length === 0 ? "" : ` and ${formatCount(more.length)} more`;
  return `job ${first.jobId}${name}${others}, the strictest of ${plural(all.length, "job")} at this site`;
}

/** The jobs whose policies count: those that are not paused. */
function activeJobs({ jobs }: RateFacts): SiteJobView[] {
  return jobs.filter(({ state }) => state !== "paused");
}

function attemptsText({ attempts, last }: TaskFacts & { state: "dead" }, now: number): string {
  const after = `after ${plural(attempts, "attempt")}`;
  return last === undefined ? after : `${formatDuration(Math.max(0, now - last.at))} ago ${after}`;
}

function rateText(site: SiteFacts): string {
  return formatRate(site.policy.intervalMs) + (isByRobots(site) ? " (robots.txt crawl-delay)" : "");
}

function isByRobots({ policy, crawlDelayMs, operator }: RateFacts): boolean {
  return operator === undefined && crawlDelayMs > 0 && crawlDelayMs === policy.intervalMs;
}

function pausedText(job: JobFacts): string {
  if (!isCrawl(job)) return `the job is paused; resume it with: trawl resume ${job.id}`;
  // No worker runs an interrupted crawl: only `trawl crawl --resume` starts a process for it.
  return `the job is paused; resume it with: trawl crawl --resume ${job.id} (if its process is running: trawl resume ${job.id})`;
}

/** The sentence for a job that is not sealed. Without tasks, such a job still cannot finish. */
function unsealedText(job: JobFacts): string[] {
  if (job.sealed) return [];
  const command = `trawl ${isCrawl(job) ? "crawl" : "submit"} --resume ${job.id} LIST`;
  return [`not all URLs are submitted yet: the submission is running or was interrupted; resume it with: ${command}`];
}

function failureText(reason: string, last: FailedAttempt | undefined): string {
  // Most details contain the status: "answered 503".
  const isInDetail = last?.detail?.includes(String(last.status)) === true;
  const status = last?.status === undefined || isInDetail ? "" : ` (status ${last.status})`;
  const detail = last?.detail === undefined ? "" : `: ${last.detail}`;
  return `${reason}${status}${detail}`;
}

function at(time: number, now: number): string {
  return `${new Date(time).toISOString()} (in ${formatDuration(Math.max(0, time - now))})`;
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const defined = times.filter((time) => time !== undefined);
  return defined.length === 0 ? undefined : Math.min(...defined);
}
