/**
 * The frontier decides what may be fetched next. This is its hot path: what workers and submitters call, in batches.
 * Inspection and control are in frontier-admin.ts. Every backend passes test/contracts/frontier on these clauses:
 *
 * F1  A task is granted to one worker at a time.
 * F2  A lease call grants only tasks whose site may be hit now: rate (GCRA, rate and burst in one number), concurrency,
 *     crawl-delay, back-off after 429/503/Retry-After. It answers with grants or with `nextDueAt`; "nothing due" is not
 *     "finished". At an offline site (domain/offline-site.ts) nothing is limited, and no robots.txt asked for.
 * F3  Those limits hold across every worker on every machine, through crashes and restarts.
 * F4  The cost of a lease call depends on what it grants, not on what is pending: blocked sites cost nothing.
 * F5  Within a queue, higher priority first, across sites; round-robin between the jobs on one site.
 * F6  An expired lease is granted again. A crash count is raised at lease time and cleared by a clean end. At 2 the task
 *     is a suspect, as are those that merely stood beside it: it waits on its queue's `aloneQueue`, for a worker that
 *     has nothing else in hand. At 3 it is dead-lettered `crashed_worker` instead of killing worker after worker.
 * F7  Settling with a stale token changes nothing: no counters, no links.
 * F8  Done, discovered links and counters are one atomic step.
 * F9  Dedup is exact, and a URL is seen only if it is durably queued in the same step. Scope: the job, or a named set
 *     shared by jobs, with an expiry.
 * F10 Conservation, at any instant: submitted + discovered = queued + delayed + leased + done + dead + cancelled +
 *     duplicate + refused.
 * F11 A job finishes exactly once, when it is sealed and nothing of it is queued, delayed or leased.
 * F12 Pause, resume, cancel, live change of rate, priority and limits, without restart. What is queued stays when the page
 *     limit is lowered: from then on no more is taken in; raised, links that come after it are.
 * F13 Backpressure: past its cap `enqueue` takes what fits, says how many it took and when to come back; workers that
 *     discover links are never held up by it.
 * F14 Retries wait with exponential back-off and jitter and yield to fresh work of equal priority; after the last one
 *     the task is dead.
 * F15 Dead letters can be listed, grouped by reason, site and status, sampled, replayed at a rate, discarded.
 * F16 `explain` says in words why something waits, and until when.
 * F17 Every call is bounded: big batches are split.
 * F18 Time is the broker's clock, or passed in; never a worker's wall clock.
 * F19 The stored schema has a version: an older binary refuses a newer one.
 * F21 A job that has ended can be forgotten, in bounded steps: with the first it is not there any more, for whoever asks,
 *     comes late or holds a claim; after the last nothing is left of it but what others share, and nobody else's limits
 *     or counts have changed. A crash in between leaves the rest to reapers. (F20 is a measure, and no promise of calls.)
 * F22 An order to a worker is heard with each of its announcements from then on, and kept as long as these are.
 */

import type { SitePolicy, Slot } from "../domain/politeness.ts";
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
] as const;

/** Tasks that one step of a backend deals with at most; larger batches are split. */
export const BATCH_MOST = 500;

/** A task that has taken down this many workers is not given to another. */
export const CRASHES_MOST = 3;

/** A task that was held by so many workers that died is run alone before it is blamed. */
export const SUSPECT_AFTER = 2;

/** No queue that a user may name has this character. */
const ALONE = "!alone";

/** Where suspects of a queue wait. Lease calls that name it should ask for one, and run nothing beside it. */
export function aloneQueue(queue: string): string {
  return baseQueue(queue) + ALONE;
}

/** The queue as people know it. */
export function baseQueue(queue: string): string {
  return queue.endsWith(ALONE) ? queue.slice(0, -ALONE.length) : queue;
}

/** Where a task waits that so many workers have died with. */
export function queueAfter(crashes: number, queue: string): string {
  return crashes >= SUSPECT_AFTER ? aloneQueue(queue) : baseQueue(queue);
}

export type NewJob = {
  /** Chosen by the caller, so that creating it twice is harmless. */
  id: string;
  name: string;
  queue: string;
  priority: number;
  /** What a site gets from this job unless `sites` names it. */
  policy: SitePolicy;
  sites: Readonly<Record<string, SitePolicy>>;
  /** Whether sites' robots.txt is asked for, and their crawl-delay kept. */
  robots: boolean;
  retries: { max: number; backoffMs: number };
  limits: { pages?: number; deadlineAt?: number };
  /** Whose seen URLs count: this job's own, or a named set shared by jobs, whose entries lapse. */
  dedup: { scope: "job" } | { scope: string; expireAfterMs: number };
  /** The whole job as submitted, for the workers; the frontier does not look inside. */
  spec: unknown;
};

export type EnqueueAnswer = {
  queued: number;
  duplicates: number;
  refused: readonly { index: number; reason: RefuseReason }[];
  /** Present when the cap was met: only the first `taken` of the batch were looked at. */
  full?: { taken: number; retryAfterMs: number };
};

export type LeaseRequest = { worker: string; queues: readonly string[]; max: number; leaseMs: number };

/** A timed claim on a task. The token grows with every grant of it. */
export type Claim = { taskId: string; token: number };

/** Of what has more to it: only the claim. */
export function claimOf({ taskId, token }: Claim): Claim {
  return { taskId, token };
}

/** One word for maps: a task that is granted again is another claim. */
export function claimKey({ taskId, token }: Claim): string {
  return `${taskId} ${token}`;
}

export type Grant = Claim & {
  jobId: string;
  url: string;
  site: string;
  kind: TaskKind;
  depth: number;
  /** 1 for the first try. */
  attempt: number;
  handler?: string;
  carry?: unknown;
  redirects: number;
  /** Leave for the first request; more are bought with `spend`. */
  slot: Slot;
  /** Set for one task of a site whose robots.txt nobody has: fetch it, and `keepRobots`, before the page. */
  mustAskRobots: boolean;
};

export type LeaseAnswer = {
  grants: readonly Grant[];
  /** When to ask again if nothing else happens; undefined: only when something changes. */
  nextDueAt: number | undefined;
  /** The same for suspects of these queues: time to come for them alone. Undefined: there is none that may go. */
  aloneDueAt: number | undefined;
};

export type TaskOutcome =
  | { kind: "done" }
  | { kind: "retry"; because: RetryReason; status?: number; detail?: string; retryAfterMs?: number }
  | { kind: "dead"; because: DeadReason; status?: number; detail?: string }
  | { kind: "refused"; because: RefuseReason };

export type Settlement = Claim & {
  outcome: TaskOutcome;
  /** In-scope links of the page, canonical. Ignored unless the outcome is `done`. */
  discovered: readonly NewTask[];
  /** Links that robots.txt already ruled out: counted as discovered and refused. */
  refusedLinks: number;
  /** What the answer tells about the site: `ok` ends its back-off, `throttled` starts or lengthens it. */
  site: { kind: "ok" } | { kind: "throttled"; retryAfterMs?: number } | { kind: "unknown" };
  /** Added to the job's tallies. */
  tally: Tally;
};

/** What a job has brought in so far. */
export type Tally = { pages: number; records: number; invalid: number; bytes: number };

export type SettleAnswer = {
  /** For each settlement, whether it counted; `stale` means the lease had gone and nothing changed. */
  verdicts: readonly ("settled" | "stale")[];
  /** Jobs that this very call finished. */
  finished: readonly string[];
};

/** A site's robots.txt as last seen. */
export type RobotsFile = {
  /** `unreachable` forbids everything for now, `absent` allows everything. */
  kind: "file" | "absent" | "unreachable";
  text: string;
  fetchedAt: number;
  freshUntil: number;
};

/** What a worker tells about itself. */
export type Presence = {
  worker: string;
  queues: readonly string[];
  /** Spiders of jobs it was given and could not load. */
  unknownSpiders: readonly string[];
  version: string;
  /** Missing of workers of older versions. */
  vitals?: Vitals;
};

/** How a worker is doing, as of its announcement. */
export type Vitals = {
  concurrency: number;
  /** Tasks under way. */
  busy: number;
  /** Leases that ended as they should, since it started. */
  done: number;
  /** Leases that ended without a page: to be tried again, or given up on. */
  failed: number;
  rssBytes: number;
  /** How long it has been there, ms: instants of its clock mean nothing to others (F18). */
  upMs: number;
  /** The process that looks after it, if one does. */
  supervisor?: string;
  /** Missing of workers of older versions. */
  recent?: Recent;
  /** `draining`: takes no more tasks, and ends when those it has are over. Missing of older versions, as are all below. */
  state?: "working" | "draining";
  /** Orders it follows; others would only stand there. */
  obeys?: readonly WorkerOrder[];
  /** Past so much memory, or so many tasks, another process takes its place; missing where there is no limit. */
  memoryMostBytes?: number;
  tasksMost?: number;
  /** How much of the time since its last word its thread was at work, 0 to 1: at 1 it can do no more. */
  loopUse?: number;
};

/** What a worker did in the last 5 to 10 seconds before its announcement. */
export type Recent = {
  /** How long that was. */
  ms: number;
  pages: number;
  done: number;
  failed: number;
  /** How long its tasks took from lease to result: which buckets of domain/latency.ts, and how many in each. */
  latencies: readonly (readonly [bucket: number, tasks: number])[];
};

/**
 * What an operator may ask of a worker. `drain`: to take no more tasks, end those it has, and end, with nobody in its place;
 * `drain-all`: the same of all that its supervisor looks after; `recycle`: to drain, with a fresh process in its place.
 */
export type WorkerOrder = "drain" | "drain-all" | "recycle";

/** An order as people know it: of a worker, or of all that a supervisor looks after. */
export const ASKED_ORDERS = ["drain", "recycle"] as const;
export type AskedOrder = (typeof ASKED_ORDERS)[number];

export function shownOrder(order: WorkerOrder): AskedOrder {
  return order === "recycle" ? "recycle" : "drain";
}

export interface Frontier {
  createJob(job: NewJob): Promise<void>;
  /** Queues URLs of a running job. The same URL twice is a duplicate, not an error. */
  enqueue(jobId: string, tasks: readonly NewTask[]): Promise<EnqueueAnswer>;
  /** No more `enqueue` will come: the job may finish. True if that finished it. */
  seal(jobId: string): Promise<boolean>;

  lease(request: LeaseRequest): Promise<LeaseAnswer>;
  /** Keeps claims alive; false where the lease has gone to another and its result must be dropped. */
  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly boolean[]>;
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer>;
  /** Returns tasks untouched: no attempt counted, no crash. */
  release(claims: readonly Claim[]): Promise<void>;

  /** Hands expired leases back, and keeps other promises that time makes due. Returns how many tasks it moved. */
  reap(max: number): Promise<number>;
  /** Hands back what a worker known to be dead was holding, without waiting for its leases to expire. */
  abandon(worker: string): Promise<number>;

  /** Buys one more request at a site (redirect hop, robots.txt, sitemap), giving `unused` back if it is the last sold. */
  spend(site: string, unused?: Slot): Promise<Slot>;
  findRobots(site: string): Promise<RobotsFile | undefined>;
  keepRobots(site: string, robots: RobotsFile, crawlDelayMs: number): Promise<void>;

  /** The pages of a site show nothing without a browser: every worker may know, for so long. */
  markScripted(site: string, forMs: number): Promise<void>;
  isScripted(site: string): Promise<boolean>;

  /**
   * Tells the others that this worker is there, and on what; forgotten unless said again within `ttlMs`. The answer is what
   * is asked of it (F22).
   */
  announce(presence: Presence, ttlMs: number): Promise<WorkerOrder | undefined>;
  /** Takes an announcement back, on the way out. */
  withdraw(worker: string): Promise<void>;

  /** Resolves when something may have become leasable, at `until`, or when `signal` aborts; whichever is first. */
  waitForWork(until: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
