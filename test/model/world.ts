/**
 * The state of the model: plain lists. It stores no counts of tasks: ledgers, requests in flight and due times are
 * computed from the lists for each query.
 */
import type { BackoffCause } from "../../src/domain/backoff.ts";
import type { JobState, Ledger } from "../../src/domain/job.ts";
import type { SitePolicy } from "../../src/domain/politeness.ts";
import { currentSlowdown, type SlowdownCause } from "../../src/domain/slowdown.ts";
import type { DeadReason, NewTask, TaskState } from "../../src/domain/task.ts";
import { areIsolated, NO_RESPONSES, type Throttling } from "../../src/domain/throttling.ts";
import { TrawlError } from "../../src/errors.ts";
import {
  type NewJob,
  type Presence,
  queueAfter,
  type RobotsFile,
  type Tally,
  type WorkerCommand,
} from "../../src/frontier/frontier.ts";
import type { AdaptiveView, FailedAttempt } from "../../src/frontier/frontier-admin.ts";

export type ModelJob = {
  made: NewJob;
  state: JobState;
  sealed: boolean;
  /** Cancelled, or past its deadline: no more tasks are granted. */
  stopped: boolean;
  priority: number;
  policy: SitePolicy;
  pageLimit: number | undefined;
  deadlineAt: number | undefined;
  createdAt: number;
  finishedAt: number | undefined;
  /** How many URLs were submitted and discovered, and how many of them did not become a task. */
  offers: { submitted: number; discovered: number; duplicate: number; refused: number };
  tally: Tally;
  /** The same tally for each site. */
  siteTallies: Map<string, { tally: Tally; lastPageAt: number | undefined }>;
};

export type ModelTask = {
  /** From 1, in order of admission. */
  id: number;
  job: ModelJob;
  site: ModelSite;
  made: NewTask;
  state: TaskState;
  failures: number;
  crashes: number;
  /** Granted before the site allows its request. Such a lease is not counted in `crashes`. */
  isAhead: boolean;
  token: number;
  /** Set while the task waits for a retry, and while it is leased after one. */
  notBefore: number | undefined;
  worker: string;
  leaseUntil: number;
  history: FailedAttempt[];
  letter: { reason: DeadReason; status: number | undefined; diedAt: number } | undefined;
};

export type ModelSite = {
  name: string;
  arrivalAt: number;
  blockedUntil: number;
  backoffCause: BackoffCause | undefined;
  incidents: number;
  throttling: Throttling;
  slowdown: number;
  slowdownCause: SlowdownCause | undefined;
  /** The effective policy, from the jobs of the site, its crawl-delay and the operator's policy. */
  policy: SitePolicy;
  operator: SitePolicy | undefined;
  crawlDelayMs: number;
  robots: RobotsFile | undefined;
  robotsFetcher: ModelTask | undefined;
  /** The number of terms that were opened for the site. */
  terms: number;
  /** The current term. Undefined after it was returned. */
  term: { worker: string; endsAt: number } | undefined;
  /** During a lease call: tasks that their worker has not started. They are leased, but not in flight. */
  unstarted: number;
};

/** The tasks of one job at one site, on one queue at one priority. Exists while any of them wait or are leased. */
export type Lane = { job: ModelJob; site: ModelSite; queue: string; priority: number; served: number };

/** When a site was last served on one queue at one rank. Exists while it has lanes there. */
export type Turn = { site: ModelSite; queue: string; rank: number; servedAt: number; served: number };

export type Seen = { scope: string; url: string; task: ModelTask; until: number };

/** The announcement of a worker. */
export type Announcement = { presence: Presence; seenAt: number; until: number; command: WorkerCommand | undefined };

export type World = {
  jobs: ModelJob[];
  tasks: ModelTask[];
  sites: ModelSite[];
  lanes: Lane[];
  turns: Turn[];
  /** In order of creation. */
  scopes: string[];
  seen: Seen[];
  announcements: Announcement[];
  /** Sites that are marked as needing a browser, and until when. */
  scripted: Map<string, number>;
  values: Map<string, { value: string; version: number; until: number }>;
  /** How many times a lane or turn was served. `served` is the number of the last time. */
  servings: number;
};

export function emptyWorld(): World {
  return {
    jobs: [],
    tasks: [],
    sites: [],
    lanes: [],
    turns: [],
    scopes: [],
    seen: [],
    announcements: [],
    scripted: new Map(),
    values: new Map(),
    servings: 0,
  };
}

export function emptyTally(): Tally {
  return { pages: 0, records: 0, invalid: 0, bytes: 0 };
}

export function getJob(world: World, jobId: string, op: string): ModelJob {
  const job = world.jobs.find(({ made }) => made.id === jobId);
  if (job === undefined) throw new TrawlError("NOT_FOUND", { op, message: `no job ${jobId}` });
  return job;
}

export function siteNamed(world: World, name: string): ModelSite {
  const known = world.sites.find((site) => site.name === name);
  if (known !== undefined) return known;
  const site: ModelSite = {
    name,
    arrivalAt: 0,
    blockedUntil: 0,
    backoffCause: undefined,
    incidents: 0,
    throttling: NO_RESPONSES,
    slowdown: 1,
    slowdownCause: undefined,
    policy: { intervalMs: 0, burst: 1, perSite: 1 },
    operator: undefined,
    crawlDelayMs: 0,
    robots: undefined,
    robotsFetcher: undefined,
    terms: 0,
    term: undefined,
    unstarted: 0,
  };
  world.sites.push(site);
  return site;
}

export function slowdownOf({ slowdown, arrivalAt }: ModelSite, now: number): number {
  return currentSlowdown(slowdown, arrivalAt, now);
}

export function adaptiveView(site: ModelSite, now: number): AdaptiveView {
  const slowdown = slowdownOf(site, now);
  const slowdownCause = slowdown === 1 ? undefined : site.slowdownCause;
  return { slowdown, slowdownCause, hasIsolatedErrors: areIsolated(site.throttling) };
}

export function isWaiting({ state }: ModelTask): boolean {
  return state === "queued" || state === "delayed";
}

export function isLive(task: ModelTask): boolean {
  return isWaiting(task) || task.state === "leased";
}

/** The queue on which the task waits, or from which it was granted. A lease counts as a crash until it ends. */
export function queueOf({ state, crashes, isAhead, made }: ModelTask): string {
  return queueAfter(state === "leased" && !isAhead ? crashes - 1 : crashes, made.queue);
}

export function pendingOf(world: World): number {
  return world.tasks.filter(isWaiting).length;
}

export function inFlightOf(world: World, site: ModelSite): number {
  return world.tasks.filter((task) => task.site === site && task.state === "leased").length - site.unstarted;
}

export function waitingAt(world: World, site: ModelSite): number {
  return world.tasks.filter((task) => task.site === site && isWaiting(task)).length;
}

export function ledgerOf(world: World, job: ModelJob): Ledger {
  const count = (state: TaskState) => world.tasks.filter((task) => task.job === job && task.state === state).length;
  return {
    submitted: job.offers.submitted,
    discovered: job.offers.discovered,
    queued: count("queued"),
    delayed: count("delayed"),
    leased: count("leased"),
    done: count("done"),
    dead: count("dead"),
    cancelled: count("cancelled"),
    duplicate: job.offers.duplicate,
    refused: job.offers.refused + count("refused"),
  };
}

/** The set of seen URLs a job belongs to. */
export function scopeOf({ made }: ModelJob): string {
  return made.dedup.scope === "job" ? `job:${made.id}` : `set:${made.dedup.scope}`;
}
