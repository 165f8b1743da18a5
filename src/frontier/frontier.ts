/**
 * The frontier decides which URL may be fetched next. This interface contains the hot path: the calls of workers and
 * submitters, which are made in batches. Inspection and control are in frontier-admin.ts. Every backend passes
 * test/contracts/frontier, which tests these clauses:
 *
 * F1  A task is granted to one worker at a time.
 * F2  `lease` grants only tasks whose site may be requested. A site has a rate (GCRA: interval and burst), a limit of
 *     concurrent requests, a crawl-delay, and a backoff after 429, 503 or Retry-After. If these responses belong to
 *     single pages (domain/throttling.ts), only these pages wait. After a backoff, a site gets one request at a time
 *     until a response is good. The tasks of a site with a rate come with a term. Until the term ends, no other worker
 *     gets tasks or a term of the site, and the worker with the term spaces the requests itself. A returned term
 *     contains a slowdown. It applies to the next term of the site and lowers the number of tasks that come with that
 *     term. The frontier drops a slowdown after 10 minutes without requests to the site. The answer of `lease` contains
 *     the grants and `nextDueAt`. "Nothing is due" does not mean "the job has finished". An offline site
 *     (domain/offline-site.ts) has no limits and no robots.txt.
 * F3  These limits hold across all workers on all machines, and through crashes and restarts. If a worker does not
 *     return a term, the frontier assumes that the worker sent the last request at the end of the term.
 * F4  The cost of `lease` depends on the number of grants, not on the number of pending tasks. Blocked sites cost
 *     nothing.
 * F5  Within a queue, tasks of higher priority are granted first, across all sites. Jobs at the same site take turns.
 * F6  A task whose lease expired is granted again. A lease counts as a crash until it ends cleanly, except for tasks
 *     that were granted ahead of their turn: for them, only a crash that the supervisor reports counts. After 2 crashes
 *     the task is a suspect, even if it only ran in the same workers as the task that caused the crashes. A suspect
 *     waits on the `aloneQueue` of its queue, for a worker that runs no other task. After 3 crashes it becomes a dead
 *     letter (`crashed_worker`), so that it cannot crash one worker after another.
 * F7  A settlement with a stale token changes nothing: no counters, no links.
 * F8  The end of a task, its discovered links and all counters change in one atomic operation. A task with many links
 *     may queue them with `discover` before it ends. After a crash in between, the task runs again, and these links are
 *     duplicates.
 * F9  Dedup is exact. A URL becomes seen only in the operation that durably queues it. The dedup scope is the job, or a
 *     named set that jobs share and whose entries expire.
 * F10 At any time: submitted + discovered = queued + delayed + leased + done + dead + cancelled + duplicate + refused.
 * F11 A job finishes exactly once: when it is sealed and nothing of it is queued, delayed or leased.
 * F12 Pause, resume, cancel, and changes of rate, priority and limits take effect without a restart. A lower page limit
 *     keeps the tasks that are already queued and admits no more. A higher one admits links that are found from then
 *     on.
 * F13 Backpressure: `enqueue` accepts tasks up to a cap, and returns how many it accepted and when to retry. The cap
 *     never delays a worker that discovers links.
 * F14 Retries wait with exponential backoff and jitter. Fresh tasks of the same priority are granted before retries.
 *     After the last retry the task is dead.
 * F15 Dead letters can be listed, grouped by reason, site and status, replayed at a rate, and discarded.
 * F16 `explain` returns sentences that say why something waits, and until when.
 * F17 Every call is bounded. Large batches are split.
 * F18 Time is the broker's clock, or is passed in. It is never the clock of a worker.
 * F19 The stored schema has a version, and an older Trawl refuses a newer schema.
 * F21 A job that has ended can be forgotten, in bounded calls. From the first call on, the job does not exist for any
 *     caller, even one that holds a claim. After the last call, only data that other jobs share is left, and no limit
 *     or count of another job has changed. After a crash in between, reapers finish the work. (F20 is a benchmark, not
 *     a clause.)
 * F22 After an operator gives a command to a worker, every `announce` of the worker returns the command, until the
 *     announcement of the worker expires.
 * F23 Pause, cancel, and changes of rate, concurrency and priority reach a site that has a term when the term is
 *     returned or ends, TERM_MS after its start at the latest.
 * F24 A shared value is visible to all workers until it expires. A write succeeds only if the value has not changed
 *     since the writer read it.
 */

import type { BackoffCause } from "../domain/backoff.ts";
import type { JobSpec } from "../domain/job-spec.ts";
import type { ReturnedTerm, SitePolicy, Term } from "../domain/politeness.ts";
import type { TaskRequest } from "../domain/request.ts";
import type { DeadReason, NewTask, RefuseReason, RetryReason, TaskKind } from "../domain/task.ts";

export const FRONTIER_CLAUSES = [
  "F1",
  "F2",
  "F3",
  "F4",
  "F5",
  "F6",
  "F7",
  "F8",
  "F9",
  "F10",
  "F11",
  "F12",
  "F13",
  "F14",
  "F15",
  "F16",
  "F17",
  "F18",
  "F19",
  "F21",
  "F22",
  "F23",
  "F24",
] as const;

/**
 * Max tasks, leases or lanes that a backend changes in one transaction or script; larger calls are split. Queueing URLs
 * has its own limits: see MAX_TASKS and MAX_LINKS in the backends.
 */
export const MAX_BATCH = 500;

/** After this many crashes a task becomes a dead letter. */
export const MAX_CRASHES = 3;

/** After this many crashes a task is a suspect and runs alone. */
export const SUSPECT_AFTER = 2;

/** Queue names of users cannot contain this suffix. */
const ALONE = "!alone";

/**
 * The queue of the suspects of a queue. A worker leases one task at a time from it, and runs no other task with it.
 */
export function aloneQueue(queue: string): string {
  return baseQueue(queue) + ALONE;
}

/** The name that users know: the queue itself, or for a queue of suspects, the queue that the suspects come from. */
export function baseQueue(queue: string): string {
  return queue.endsWith(ALONE) ? queue.slice(0, -ALONE.length) : queue;
}

/** The queue of a task after this many crashes. */
export function queueAfter(crashes: number, queue: string): string {
  return crashes >= SUSPECT_AFTER ? aloneQueue(queue) : baseQueue(queue);
}

export type NewJob = {
  /** Chosen by the caller, so that `createJob` is idempotent. */
  id: string;
  name: string;
  queue: string;
  priority: number;
  /** For all sites that `sites` does not name. */
  policy: SitePolicy;
  sites: Readonly<Record<string, SitePolicy>>;
  /** Whether to obey robots.txt and its crawl-delay. */
  robots: boolean;
  retries: { max: number; backoffMs: number };
  limits: { pages?: number; deadlineAt?: number };
  /** The dedup scope: the job itself, or a named set that jobs share and whose entries expire. */
  dedup: { scope: "job" } | { scope: string; expireAfterMs: number };
  /** The whole job as submitted, for the workers. The frontier does not read it. */
  spec: JobSpec;
};

export type EnqueueAnswer = {
  queued: number;
  duplicates: number;
  refused: readonly { index: number; reason: RefuseReason }[];
  /** Set if the cap was reached: only the first `taken` tasks were processed. */
  full?: { taken: number; retryAfterMs: number };
};

export type LeaseRequest = {
  worker: string;
  queues: readonly string[];
  /** The most tasks to grant. */
  max: number;
  /** The most tasks to grant at sites without a rate, because they start at once. */
  maxNow: number;
  leaseMs: number;
  /** Sites with a rate that become due within this time are served too. Their terms start when they are due. */
  lookaheadMs: number;
  /**
   * Terms that the worker returns. The frontier takes them back before it grants tasks. If a returned term has
   * unstarted tasks, the worker asks for a new term with more tasks. If it gets none, it keeps the old term.
   */
  returned: readonly ReturnedTerm[];
};

/** A request for a term without tasks, for example to follow a redirect of robots.txt. */
export type TermRequest = { worker: string; site: string; returned: ReturnedTerm | undefined };

/** Identifies one lease of a task. The token grows with every grant of the task. */
export type Claim = { taskId: string; token: number };

/** The claim of a grant or settlement, without the other fields. */
export function claimOf({ taskId, token }: Claim): Claim {
  return { taskId, token };
}

/** A key for maps. A task that is granted again has another key. */
export function claimKey({ taskId, token }: Claim): string {
  return `${taskId} ${token}`;
}

export type Grant = Claim & {
  jobId: string;
  url: string;
  site: string;
  kind: TaskKind;
  depth: number;
  /** Starts at 1. */
  attempt: number;
  handler?: string;
  carry?: unknown;
  request?: TaskRequest;
  redirects: number;
  /**
   * True for one task of a site without a fresh robots.txt: fetch it and call `keepRobots` before fetching the page.
   */
  mustFetchRobots: boolean;
};

export type LeaseAnswer = {
  grants: readonly Grant[];
  /** One for each granted site that has a rate. */
  terms: readonly Term[];
  /** When to call `lease` again if nothing changes before. Undefined: only after a change. */
  nextDueAt: number | undefined;
  /** The same for the suspects of these queues. */
  aloneDueAt: number | undefined;
};

export type TaskOutcome =
  | { kind: "done" }
  | { kind: "retry"; because: RetryReason; status?: number; detail?: string; retryAfterMs?: number }
  | { kind: "dead"; because: DeadReason; status?: number; detail?: string }
  | { kind: "refused"; because: RefuseReason };

export type Settlement = Claim & {
  outcome: TaskOutcome;
  /** Canonical URLs of the page that are in the link scope. Ignored unless the outcome is `done`. */
  discovered: readonly NewTask[];
  /** Number of links that robots.txt disallows. They count as discovered and refused. */
  refusedLinks: number;
  /**
   * `ok`: after a backoff, resets the number of backoffs in a row. `throttled`: starts or extends a backoff of the
   * site, unless the response belongs to a single page.
   */
  site: { kind: "ok" } | { kind: "throttled"; cause?: BackoffCause; retryAfterMs?: number } | { kind: "unknown" };
  /** Added to the tally of the job. */
  tally: Tally;
};

/** Results of a job or a task. */
export type Tally = { pages: number; records: number; invalid: number; bytes: number };

/**
 * The state of a task after its settlement. A retry after the last allowed one is `dead`; a retry of a stopped job is
 * `cancelled`. `stale`: the lease had already ended, and nothing changed.
 */
export type SettledState = TaskOutcome["kind"] | "cancelled" | "stale";

export type SettleAnswer = {
  /** The state of each settlement, in order. */
  states: readonly SettledState[];
  /** Jobs that this call finished. */
  finished: readonly string[];
};

/** A small value that all workers share, such as the cookies of a session. */
export type SharedValue = { value: string; version: number };

/** A site's robots.txt as last fetched. */
export type RobotsFile = {
  /** `absent` allows all URLs; `unreachable` allows none for now. */
  kind: "file" | "absent" | "unreachable";
  text: string;
  fetchedAt: number;
  freshUntil: number;
};

/** The announcement of a worker. */
export type Presence = {
  worker: string;
  queues: readonly string[];
  /** Spiders of its jobs that it could not load. */
  unknownSpiders: readonly string[];
  version: string;
  /** Older versions do not send it. */
  vitals?: Vitals;
};

/** State of a worker at its last announcement. */
export type Vitals = {
  concurrency: number;
  /** Tasks that it runs now. */
  busy: number;
  /** Successful attempts since it started. */
  done: number;
  /** Failed attempts since it started, whether they are retried or not. */
  failed: number;
  rssBytes: number;
  /** Time since it started. Not an instant, because its clock may differ from others (F18). */
  upMs: number;
  /** The supervisor process that started it, if there is one. */
  supervisor?: string;
  /** Older versions do not send it. */
  recent?: Recent;
  /**
   * `draining`: it takes no more tasks and exits after its current ones. Older versions send neither this nor the
   * fields below.
   */
  state?: "working" | "draining";
  /** Commands that it executes. */
  commands?: readonly WorkerCommand[];
  /** Above this memory, or after this many tasks, a new process replaces it. Missing: no limit. */
  maxMemoryBytes?: number;
  maxTasks?: number;
  /** Utilization of its event loop since the last announcement, 0 to 1. */
  eventLoopUse?: number;
};

/** The work of a worker in the 5 to 10 seconds before its announcement. */
export type Recent = {
  /** Length of that time. */
  ms: number;
  pages: number;
  done: number;
  failed: number;
  /** Time from lease to result: buckets of domain/latency.ts and the number of tasks in each. */
  latencies: readonly (readonly [bucket: number, tasks: number])[];
};

/**
 * A command to a worker. `drain`: take no more tasks, finish the current ones, exit, and do not restart. `drain-all`:
 * the same for all workers of its supervisor. `recycle`: drain, and let the supervisor start a new process.
 */
export type WorkerCommand = "drain" | "drain-all" | "recycle";

/** The commands that operators use; each applies to one worker, or to all workers of a supervisor. */
export const OPERATOR_COMMANDS = ["drain", "recycle"] as const;
export type OperatorCommand = (typeof OPERATOR_COMMANDS)[number];

export function toOperatorCommand(command: WorkerCommand): OperatorCommand {
  return command === "recycle" ? "recycle" : "drain";
}

export interface Frontier {
  createJob(job: NewJob): Promise<void>;
  /** Queues URLs of a running job. A URL that was seen before is a duplicate, not an error. */
  enqueue(jobId: string, tasks: readonly NewTask[]): Promise<EnqueueAnswer>;
  /** Declares that no more URLs will be submitted, so the job may finish. True if this call finished it. */
  seal(jobId: string): Promise<boolean>;

  lease(request: LeaseRequest): Promise<LeaseAnswer>;
  /** Extends leases. False: the lease has ended, and the worker must drop the result. */
  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly boolean[]>;
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer>;
  /**
   * Queues links of a leased task before the task is settled, in batches (F17). The cap of `enqueue` does not apply. An
   * open or sealed job accepts them; those of a job that has ended are refused one by one. False: the lease has ended,
   * and nothing more was queued.
   */
  discover(claim: Claim, tasks: readonly NewTask[]): Promise<boolean>;
  /** Returns tasks as if they had not been granted: no attempt, no crash. */
  release(claims: readonly Claim[]): Promise<void>;

  /** Queues tasks of expired leases again, and does other work that is due. Returns the number of tasks moved. */
  reap(max: number): Promise<number>;
  /**
   * Queues the tasks of a worker that is known to be dead, without waiting for its leases to expire. `crashed`: the
   * tasks that may be the cause, if that is known. The others are returned without a crash.
   */
  abandon(worker: string, crashed?: readonly Claim[]): Promise<number>;

  /** Undefined: the site has no rate. The term may start later, for example after the term of another worker. */
  openTerm(request: TermRequest): Promise<Term | undefined>;
  returnTerms(returned: readonly ReturnedTerm[]): Promise<void>;
  findRobots(site: string): Promise<RobotsFile | undefined>;
  keepRobots(site: string, robots: RobotsFile, crawlDelayMs: number): Promise<void>;

  /** Marks a site for `forMs` as needing a browser, for all workers. */
  markScripted(site: string, forMs: number): Promise<void>;
  isScripted(site: string): Promise<boolean>;

  findValue(key: string): Promise<SharedValue | undefined>;
  /**
   * Writes a shared value for `ttlMs` if its version is still `version`; 0: if there is no value. Returns the new
   * version; undefined if another process has written it.
   */
  keepValue(key: string, value: string, condition: { version: number; ttlMs: number }): Promise<number | undefined>;

  /** Announces this worker for `ttlMs`. Returns the command to it (F22). */
  announce(presence: Presence, ttlMs: number): Promise<WorkerCommand | undefined>;
  /** Removes the announcement of a worker that exits. */
  withdraw(worker: string): Promise<void>;

  /** Resolves when a task may have become leasable, at `until`, or when `signal` aborts. */
  waitForWork(until: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
