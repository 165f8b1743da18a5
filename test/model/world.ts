/**
 * Everything the model frontier knows: plain lists, kept for ever. Nothing is counted as it happens that can be counted
 * afresh: ledgers, requests under way and due times are all worked out from the lists when somebody asks.
 */
import type { JobState, Ledger } from "../../src/domain/job.ts";
import type { SitePolicy } from "../../src/domain/politeness.ts";
import type { DeadReason, NewTask, TaskState } from "../../src/domain/task.ts";
import { TrawlError } from "../../src/errors.ts";
import {
  type NewJob,
  type Presence,
  queueAfter,
  type RobotsFile,
  type Tally,
  type WorkerOrder,
} from "../../src/frontier/frontier.ts";
import type { Misfortune } from "../../src/frontier/frontier-admin.ts";

export type ModelJob = {
  made: NewJob;
  state: JobState;
  sealed: boolean;
  /** No more of it is to be fetched: cancelled, or out of time. */
  stopped: boolean;
  priority: number;
  policy: SitePolicy;
  pageLimit: number | undefined;
  deadlineAt: number | undefined;
  createdAt: number;
  finishedAt: number | undefined;
  /** What came in, and what of it never became a task. */
  offers: { submitted: number; discovered: number; duplicate: number; refused: number };
  tally: Tally;
  /** The same by site of the pages. */
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
  token: number;
  /** Set while it waits for, or was granted after, a wait. */
  notBefore: number | undefined;
  worker: string;
  leaseUntil: number;
  history: Misfortune[];
  letter: { reason: DeadReason; status: number | undefined; diedAt: number } | undefined;
};

export type ModelSite = {
  name: string;
  arrivalAt: number;
  blockedUntil: number;
  incidents: number;
  /** In force since the last change of its jobs, its crawl-delay or the operator's mind. */
  policy: SitePolicy;
  operator: SitePolicy | undefined;
  crawlDelayMs: number;
  robots: RobotsFile | undefined;
  asker: ModelTask | undefined;
};

/** What one job has at one site, on one queue at one priority; there only while something of it waits or is leased. */
export type Lane = { job: ModelJob; site: ModelSite; queue: string; priority: number; served: number };

/** When a site was last served from one queue at one rank; there only while it has lanes there. */
export type Turn = { site: ModelSite; queue: string; rank: number; servedAt: number; served: number };

export type Seen = { scope: string; url: string; task: ModelTask; until: number };

/** A worker as it announced itself. */
export type Announcement = { presence: Presence; seenAt: number; until: number; order: WorkerOrder | undefined };

export type World = {
  jobs: ModelJob[];
  tasks: ModelTask[];
  sites: ModelSite[];
  lanes: Lane[];
  turns: Turn[];
  /** In order of their making. */
  scopes: string[];
  seen: Seen[];
  announcements: Announcement[];
  /** Sites that need a browser, and until when that is thought. */
  scripted: Map<string, number>;
  /** Counts every serving, of lanes and turns alike. */
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
    incidents: 0,
    policy: { intervalMs: 0, burst: 1, perSite: 1 },
    operator: undefined,
    crawlDelayMs: 0,
    robots: undefined,
    asker: undefined,
  };
  world.sites.push(site);
  return site;
}

export function isWaiting({ state }: ModelTask): boolean {
  return state === "queued" || state === "delayed";
}

export function isLive(task: ModelTask): boolean {
  return isWaiting(task) || task.state === "leased";
}

/** The queue it waits on, or was granted from: each grant counts as a crash until it has ended. */
export function queueOf({ state, crashes, made }: ModelTask): string {
  return queueAfter(state === "leased" ? crashes - 1 : crashes, made.queue);
}

export function pendingOf(world: World): number {
  return world.tasks.filter(isWaiting).length;
}

export function inFlightOf(world: World, site: ModelSite): number {
  return world.tasks.filter((task) => task.site === site && task.state === "leased").length;
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
