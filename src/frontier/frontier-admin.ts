/** Inspection and control of a frontier: what people and the control plane call. Clauses are in frontier.ts. */

import type { JobState, Ledger } from "../domain/job.ts";
import type { SitePolicy } from "../domain/politeness.ts";
import type { DeadReason } from "../domain/task.ts";
import type { Presence, Tally, WorkerOrder } from "./frontier.ts";

export type JobView = {
  id: string;
  name: string;
  state: JobState;
  sealed: boolean;
  queue: string;
  priority: number;
  /** As they are now, after changes. */
  policy: SitePolicy;
  limits: JobLimits;
  createdAt: number;
  finishedAt: number | undefined;
  counts: Ledger;
  tally: Tally;
  spec: unknown;
};

export type JobLimits = { pages: number | undefined; deadlineAt: number | undefined };

/** What is missing stays as it is; null takes a limit away. */
export type LimitChange = { pages?: number | null; deadlineAt?: number | null };

/** One try of a task that did not end well. */
export type Misfortune = { at: number; because: string; status?: number; detail?: string };

export type DeadLetter = {
  taskId: string;
  jobId: string;
  url: string;
  /** Of its page, also where that was only to be parsed. */
  site: string;
  reason: DeadReason;
  status: number | undefined;
  diedAt: number;
  /** Tries, oldest first, the last one included. */
  history: readonly Misfortune[];
};

/** All that is named has to be so. Of `taskIds` the first BATCH_MOST count, each once. */
export type DeadFilter = {
  jobId?: string;
  reason?: DeadReason;
  site?: string;
  status?: number;
  taskIds?: readonly string[];
};

/** How many, and of which jobs, by id: these run again, if they had ended. */
export type Replayed = { replayed: number; jobIds: readonly string[] };

export type DeadGroup = { reason: DeadReason; site: string; status: number | undefined; count: number; sample: string };

/** The largest first; `letters`: how many there are, those of groups that are not told of included. */
export type DeadGroups = { groups: readonly DeadGroup[]; letters: number };

export type SiteView = {
  site: string;
  policy: SitePolicy;
  inFlight: number;
  waiting: number;
  readyAt: number;
  blockedUntil: number;
  crawlDelayMs: number;
};

/** All there is to know of one site. */
export type SiteDetail = SiteView & {
  /** The operator's word, which then is the policy. */
  operator: SitePolicy | undefined;
  /** How often in a row it had to rest; a good answer after its rest ends that. */
  incidents: number;
  /** Whether a worker is bringing its robots.txt: nothing else goes there until it has. */
  isAskingRobots: boolean;
  /** Jobs with something waiting or under way there, the most first: 50 at most; a broker may look only at the 500 newest. */
  jobs: readonly SiteJobView[];
};

/** What one job has at a site. `policy` is what it asks for there. */
export type SiteJobView = {
  jobId: string;
  name: string;
  state: JobState;
  waiting: number;
  inFlight: number;
  policy: SitePolicy;
};

/** How many jobs of a site are told of, and of how many it is looked. */
export const SITE_JOBS_MOST = 50;
export const SITE_JOBS_LOOKED_AT = 500;

/** How one job stands at one site. Over all its sites these add up to its ledger and its tally, whatever happens. */
export type JobSiteView = {
  /** Of the pages, also where some were only to be parsed. */
  site: string;
  waiting: number;
  inFlight: number;
  done: number;
  dead: number;
  tally: Tally;
  /** When the last page of it was settled. */
  lastPageAt: number | undefined;
  /** Until when the site rests; 0 or past: it does not. */
  blockedUntil: number;
};

/** Why something waits, in words, and until when if that is known. */
export type Explanation = {
  about: string;
  reasons: readonly string[];
  until: number | undefined;
  /** Of a URL: the jobs that have it, and how it stands in each. `ended`: done, refused or cancelled. */
  tasks: readonly { jobId: string; state: "queued" | "delayed" | "leased" | "dead" | "ended" }[];
  /** Of a URL: the queues on which it waits for nothing but a free worker. */
  queues: readonly string[];
};

export type ExplainTarget = { url: string } | { site: string } | { jobId: string };

/** `own`: without what all jobs share, such as how many wait at a site, and who works. Missing: all of it. */
export type Hearing = "all" | "own";

/** A worker as last announced, and what is asked of it. */
export type WorkerView = Presence & { seenAt: number; order?: WorkerOrder };

/** What waits on a queue. */
export type QueueView = { queue: string; waiting: number };

/** One thing that was looked at, and what to do about it unless it is `ok`. */
export type Finding = { check: string; verdict: "ok" | "warning" | "problem"; says: string; fix?: string };

export interface FrontierAdmin {
  findJob(jobId: string): Promise<JobView | undefined>;
  /** Newest first. */
  listJobs(limit: number, before?: { createdAt: number }): Promise<readonly JobView[]>;
  /** Jobs that have not ended, newest first, cancelled ones included that still have something under way. Costs what it answers. */
  listOpen(limit: number, before?: { createdAt: number }): Promise<readonly JobView[]>;
  /** Jobs that have ended before that instant, the longest ended first. */
  listEnded(before: number, limit: number): Promise<readonly JobView[]>;
  /**
   * Forgets a job that has ended (F21), removing some `max` of what it has left. `more`: call again, or leave it to
   * reapers. A job that is not there is gone. Throws JOB_RUNNING.
   */
  forgetJob(jobId: string, max: number): Promise<"gone" | "more">;
  pause(jobId: string): Promise<JobView>;
  resume(jobId: string): Promise<JobView>;
  cancel(jobId: string): Promise<JobView>;
  setPriority(jobId: string, priority: number): Promise<JobView>;
  /** Changes the job's policy for every site it has no special rule for. */
  setPolicy(jobId: string, policy: SitePolicy): Promise<JobView>;
  /**
   * Changes a running or paused job's limits; a deadline that has passed ends it. Throws JOB_ENDED; LIMIT_FIXED for a page
   * limit of a job that has none, where the broker is spread over several shards.
   */
  setLimits(jobId: string, change: LimitChange): Promise<JobView>;
  /** An operator's word on one site: beats every job's and the crawl-delay; undefined takes it back. */
  setSitePolicy(site: string, policy: SitePolicy | undefined): Promise<void>;
  /** By name; `part`: only those whose name has this in it. */
  listSites(limit: number, after?: string, part?: string): Promise<readonly SiteView[]>;
  /** Sites for which something waits, the most first; `limit` counts up to BATCH_MOST. */
  listBusySites(limit: number, part?: string): Promise<readonly SiteView[]>;
  findSite(site: string): Promise<SiteDetail | undefined>;

  /** The sites a job has been to or is to go to, by name; `limit` counts up to BATCH_MOST. Empty for a job that is not there. */
  listJobSites(jobId: string, limit: number, after?: string): Promise<readonly JobSiteView[]>;

  listDead(filter: DeadFilter, limit: number, afterTaskId?: string): Promise<readonly DeadLetter[]>;
  groupDead(filter: DeadFilter, limit: number): Promise<DeadGroups>;
  /** How many there are, of all jobs; those of a job that is just being forgotten may still count. Many may take long. */
  countDead(): Promise<number>;
  /** Queues dead tasks again, `perSecond` of them becoming due each second. Ended jobs run again. */
  replayDead(filter: DeadFilter, limit: number, perSecond: number): Promise<Replayed>;
  /** Forgets dead letters; the ledger keeps counting them as dead. Returns how many. */
  discardDead(filter: DeadFilter, limit: number): Promise<number>;

  explain(target: ExplainTarget, hearing?: Hearing): Promise<Explanation>;
  /** Workers that hold leases, with how many. */
  listHolders(): Promise<readonly { worker: string; leases: number }[]>;
  /** Workers whose announcement has not lapsed, by name. */
  listWorkers(): Promise<readonly WorkerView[]>;
  /** Gives a worker an order, in place of any other (F22). False where nobody of that name is there. */
  orderWorker(worker: string, order: WorkerOrder): Promise<boolean>;
  /** Queues on which something waits, by name. */
  listQueues(): Promise<readonly QueueView[]>;
  /** Whether the broker itself is fit for work: reached, of a known version, durable, its clock right. */
  examine(): Promise<readonly Finding[]>;
}
