/** Inspection and control of a frontier, for the CLI and the API. The clauses are in frontier.ts. */

import type { BackoffCause } from "../domain/backoff.ts";
import type { JobState, Ledger } from "../domain/job.ts";
import type { JobSpec } from "../domain/job-spec.ts";
import type { SitePolicy } from "../domain/politeness.ts";
import type { SlowdownCause } from "../domain/slowdown.ts";
import type { DeadReason } from "../domain/task.ts";
import { baseQueue, MAX_BATCH, type Presence, type Tally, type WorkerCommand } from "./frontier.ts";

export type JobView = {
  id: string;
  name: string;
  state: JobState;
  sealed: boolean;
  queue: string;
  priority: number;
  /** The current values, after all changes. */
  policy: SitePolicy;
  limits: JobLimits;
  createdAt: number;
  finishedAt: number | undefined;
  counts: Ledger;
  tally: Tally;
  spec: JobSpec;
};

type JobLimits = { pages: number | undefined; deadlineAt: number | undefined };

/** A missing field stays unchanged; null removes the limit. */
export type LimitChange = { pages?: number | null; deadlineAt?: number | null };

/** One attempt of a task that failed. */
export type FailedAttempt = { at: number; because: string; status?: number; detail?: string };

export type DeadLetter = {
  taskId: string;
  jobId: string;
  url: string;
  /** The site of its page, even if the task was to parse the page. */
  site: string;
  reason: DeadReason;
  status: number | undefined;
  diedAt: number;
  /** All failed attempts, oldest first. */
  history: readonly FailedAttempt[];
};

/** A dead letter must match all fields that are set. Only the first MAX_BATCH `taskIds` count. */
export type DeadFilter = {
  jobId?: string;
  reason?: DeadReason;
  site?: string;
  status?: number;
  taskIds?: readonly string[];
};

/** The number of queued tasks, and the ids of their jobs, sorted. Jobs that had ended run again. */
export type ReplayResult = { replayed: number; jobIds: readonly string[] };

export type DeadGroup = { reason: DeadReason; site: string; status: number | undefined; count: number; sample: string };

/** Largest group first. `letters`: the number of all letters, also of groups beyond the limit. */
export type DeadGroups = { groups: readonly DeadGroup[]; letters: number };

export type SiteView = AdaptiveView & {
  site: string;
  policy: SitePolicy;
  inFlight: number;
  waiting: number;
  readyAt: number;
  /** End of the backoff; 0 or past: there is none. */
  blockedUntil: number;
  /** Cause of the current or last backoff, if it is known. */
  backoffCause: BackoffCause | undefined;
  crawlDelayMs: number;
};

/** How a site's responses affect its requests. */
export type AdaptiveView = {
  /** Requests are spaced by the interval times this number. 1: the site gets its full rate. */
  slowdown: number;
  /** Undefined at the full rate, and if the cause is unknown. */
  slowdownCause: SlowdownCause | undefined;
  /** Whether 429 and 503 come from single pages of the site. Then only these pages wait, not the whole site. */
  hasIsolatedErrors: boolean;
};

/** Everything about one site. */
export type SiteDetail = SiteView & {
  /** The operator's policy, which overrides all others. */
  operator: SitePolicy | undefined;
  /** Number of backoffs in a row. A good response after a backoff resets it. */
  incidents: number;
  /** Whether a worker is fetching robots.txt. Until it has the file, no other request is sent to the site. */
  isFetchingRobots: boolean;
  /**
   * Jobs with tasks waiting or leased at the site, most waiting first. At most SITE_JOBS_MAX jobs. A Redis broker
   * searches only the SITE_JOBS_SCANNED newest jobs.
   */
  jobs: readonly SiteJobView[];
};

/** The tasks of one job at a site. `policy` is the policy that the job wants there. */
export type SiteJobView = {
  jobId: string;
  name: string;
  state: JobState;
  waiting: number;
  inFlight: number;
  policy: SitePolicy;
};

/** Max jobs that SiteDetail lists, and max jobs that a broker reads to find them. */
export const SITE_JOBS_MAX = 50;
export const SITE_JOBS_SCANNED = 500;

/** Counters of one job at one site. Their sums over all sites of the job equal the counts of its ledger and tally. */
export type JobSiteView = {
  /** The site of the pages, also for tasks that parse them. */
  site: string;
  waiting: number;
  inFlight: number;
  done: number;
  dead: number;
  tally: Tally;
  /** When its last page was settled. */
  lastPageAt: number | undefined;
  /** End of the backoff of the site; 0 or past: there is none. */
  blockedUntil: number;
  backoffCause: BackoffCause | undefined;
};

/** Sentences that say why something waits, and until when if that is known. */
export type Explanation = {
  about: string;
  reasons: readonly string[];
  until: number | undefined;
  /** For a URL: its state in each job that has it. `ended`: done, refused or cancelled. */
  tasks: readonly { jobId: string; state: "queued" | "delayed" | "leased" | "dead" | "ended" }[];
  /** For a URL: the queues on which it waits only for a free worker. */
  queues: readonly string[];
};

export type ExplainTarget = { url: string } | { site: string } | { jobId: string };

/**
 * `own`: hides data of other jobs and of the fleet, such as the tasks at a site and the names of workers. Default:
 * `all`.
 */
export type Visibility = "all" | "own";

/** A worker as last announced, and the command to it. */
export type WorkerView = Presence & { seenAt: number; command?: WorkerCommand };

/** The number of tasks that wait on a queue. */
export type QueueView = { queue: string; waiting: number };

/** The result of one health check, and how to fix it unless it is `ok`. */
export type Finding = { check: string; verdict: "ok" | "warning" | "problem"; message: string; fix?: string };

export interface FrontierAdmin {
  findJob(jobId: string): Promise<JobView | undefined>;
  /** The jobs that exist, in the order of `jobIds`, which has at most MAX_BATCH entries without duplicates. */
  findJobs(jobIds: readonly string[]): Promise<readonly JobView[]>;
  /** Newest first. */
  listJobs(limit: number, before?: { createdAt: number }): Promise<readonly JobView[]>;
  /**
   * Jobs that have not ended, newest first, including cancelled jobs with leased tasks. The cost depends on the result
   * only.
   */
  listOpen(limit: number, before?: { createdAt: number }): Promise<readonly JobView[]>;
  /** Jobs that ended before that time, oldest end first. */
  listEnded(before: number, limit: number): Promise<readonly JobView[]>;
  /**
   * Forgets a job that has ended (F21), and removes about `max` of its entries. `more`: entries remain; call again, or
   * leave them to reapers. `gone`: nothing remains, or there is no such job. Throws JOB_RUNNING.
   */
  forgetJob(jobId: string, max: number): Promise<"gone" | "more">;
  pause(jobId: string): Promise<JobView>;
  resume(jobId: string): Promise<JobView>;
  cancel(jobId: string): Promise<JobView>;
  setPriority(jobId: string, priority: number): Promise<JobView>;
  /** Changes the job's policy for all sites without a special rule. */
  setPolicy(jobId: string, policy: SitePolicy): Promise<JobView>;
  /**
   * Changes the limits of a running or paused job. A deadline in the past ends the job. Throws JOB_ENDED. On a broker
   * with several shards, throws LIMIT_FIXED if the change adds a page limit to a job that has none.
   */
  setLimits(jobId: string, change: LimitChange): Promise<JobView>;
  /** Sets the operator's policy for a site. It overrides all jobs and the crawl-delay; undefined clears it. */
  setSitePolicy(site: string, policy: SitePolicy | undefined): Promise<void>;
  /** Sorted by name. `part`: only names that contain it. */
  listSites(limit: number, after?: string, part?: string): Promise<readonly SiteView[]>;
  /** Sites with waiting tasks, most waiting first. `limit` is at most MAX_BATCH. */
  listBusySites(limit: number, part?: string): Promise<readonly SiteView[]>;
  findSite(site: string): Promise<SiteDetail | undefined>;

  /** All sites of a job, sorted by name. `limit` is at most MAX_BATCH. Empty if there is no such job. */
  listJobSites(jobId: string, limit: number, after?: string): Promise<readonly JobSiteView[]>;

  listDead(filter: DeadFilter, limit: number, afterTaskId?: string): Promise<readonly DeadLetter[]>;
  groupDead(filter: DeadFilter, limit: number): Promise<DeadGroups>;
  /**
   * The number of all dead letters. May include those of a job that is being forgotten. May be slow if there are many.
   */
  countDead(): Promise<number>;
  /** Queues dead tasks again; `perSecond` of them become due each second. Ended jobs run again. */
  replayDead(filter: DeadFilter, limit: number, perSecond: number): Promise<ReplayResult>;
  /** Deletes dead letters; the ledger still counts them as dead. Returns the number. */
  discardDead(filter: DeadFilter, limit: number): Promise<number>;

  explain(target: ExplainTarget, visibility?: Visibility): Promise<Explanation>;
  /** Workers that hold leases, with the number of leases. */
  listHolders(): Promise<readonly { worker: string; leases: number }[]>;
  /** Workers whose announcement has not expired, sorted by name. */
  listWorkers(): Promise<readonly WorkerView[]>;
  /** Gives a worker a command, which replaces an earlier one (F22). False: there is no such worker. */
  commandWorker(worker: string, command: WorkerCommand): Promise<boolean>;
  /** Queues with waiting tasks, sorted by name. */
  listQueues(): Promise<readonly QueueView[]>;
  /** Checks whether the broker is reachable, durable and of a supported version, and whether its clock is right. */
  examine(): Promise<readonly Finding[]>;
}

/**
 * The task ids of a dead-letter filter (F15): sorted, without duplicates, MAX_BATCH at most. Drops ids that are not
 * integers.
 */
export function normalizeTaskIds(taskIds: readonly string[]): number[] {
  const ids = [...new Set(taskIds.map(Number))].filter(Number.isSafeInteger);
  return ids.slice(0, MAX_BATCH).sort((one, other) => one - other);
}

/** The jobs in the order of `jobIds`. Every job is in `jobIds`. */
export function inOrderOf<Job extends { id: string }>(jobIds: readonly string[], jobs: readonly Job[]): Job[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return jobIds.flatMap((jobId) => byId.get(jobId) ?? []);
}

/** Adds the tasks of each queue of suspects to the original queue. Sorted by name. */
export function mergeSuspectQueues(views: readonly QueueView[]): QueueView[] {
  const totals = new Map<string, number>();
  for (const { queue, waiting } of views) {
    const name = baseQueue(queue);
    totals.set(name, (totals.get(name) ?? 0) + waiting);
  }
  return [...totals]
    .map(([queue, waiting]) => ({ queue, waiting }))
    .sort((one, other) => (one.queue < other.queue ? -1 : 1));
}
