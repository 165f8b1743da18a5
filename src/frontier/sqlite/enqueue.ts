/**
 * Queues URLs of a job: submitted ones in batches (admit-many.ts), discovered ones when settle.ts calls `admit` in its
 * own transaction. Dedup, the page limit and the ledger change in the same transaction as the tasks (F8, F9, F10).
 */
import { setImmediate } from "node:timers/promises";
import { fingerprint, fingerprintInteger } from "../../domain/fingerprint.ts";
import type { NewTask, RefuseReason } from "../../domain/task.ts";
import { TrawlError } from "../../errors.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import { type EnqueueAnswer, MAX_BATCH } from "../frontier.ts";
import type { AdmitMany } from "./admit-many.ts";
import { getJob } from "./jobs.ts";
import type { JobRow, LaneRow } from "./rows.ts";
import type { RunTransaction, Transaction } from "./transaction.ts";

export type AdmitResult = {
  queued: number;
  duplicates: number;
  refused: { index: number; reason: RefuseReason }[];
};

/** Queues those of the tasks that are new, inside the caller's transaction. */
export type Admit = (
  tx: Transaction,
  job: JobRow,
  tasks: readonly NewTask[],
  as: "submitted" | "discovered",
) => AdmitResult;

type Names = "markSeen" | "markSeenUntil" | "isSeen" | "addTask";

export function createAdmit(db: Database): Admit {
  const sql = prepareAll<Names>(db, new URL("./sql/enqueue.sql", import.meta.url));

  function decide(tx: Transaction, job: JobRow, task: NewTask): "queued" | "duplicate" | RefuseReason {
    if (job.stopped === 1 || job.finished_at !== null) return "job_ended";
    // Entries that expire are not cached, because the cache has no expiry.
    if (job.expire_after_ms === null && tx.isCachedSeen(job.scope, task.url)) return "duplicate";

    const key = fingerprintInteger(fingerprint(task.url));
    // The target of a redirect belongs to a page that is already counted.
    const continuesPage = task.redirects !== undefined && task.redirects > 0;
    if (!continuesPage && job.page_limit !== null && job.admitted >= job.page_limit) {
      return sql.isSeen.get(job.scope, key, tx.now) === undefined ? "page_limit" : "duplicate";
    }
    const id = tx.totals.next_task;
    const isNew =
      job.expire_after_ms === null
        ? sql.markSeen.run(job.scope, key, id).changes
        : sql.markSeenUntil.run(job.scope, key, id, job.n, tx.now + job.expire_after_ms, tx.now).changes;
    if (job.expire_after_ms === null) tx.cacheSeen(job.scope, task.url);
    if (Number(isNew) === 0) return "duplicate";
    if (!continuesPage) job.admitted += 1;
    return "queued";
  }

  function add(tx: Transaction, lane: LaneRow, task: NewTask): void {
    const carry = task.carry === undefined ? null : JSON.stringify(task.carry);
    const request = task.request === undefined ? null : JSON.stringify(task.request);
    const id = tx.totals.next_task++;
    const { handler = null, redirects = 0 } = task;
    const { job, n, site } = lane;
    sql.addTask.run(id, job, n, site, task.url, task.kind, task.depth, handler, carry, request, redirects);
    lane.queued += 1;
    tx.totals.pending += 1;
  }

  return (tx, job, tasks, as) => {
    const result: AdmitResult = { queued: 0, duplicates: 0, refused: [] };
    const laneOf = cacheLanes(tx, job);
    tasks.forEach((task, index) => {
      const decision = decide(tx, job, task);
      if (decision === "queued") {
        add(tx, laneOf(task), task);
        result.queued += 1;
      } else if (decision === "duplicate") result.duplicates += 1;
      else result.refused.push({ index, reason: decision });
    });
    job[as] += tasks.length;
    job.queued += result.queued;
    job.duplicate += result.duplicates;
    job.refused += result.refused.length;
    return result;
  };
}

/** Returns a function that finds the lane of a task. It caches lanes: most links of a page belong to the same lane. */
function cacheLanes(tx: Transaction, job: JobRow): (task: NewTask) => LaneRow {
  const lanes = new Map<string, LaneRow>();
  return (task) => {
    const key = `${task.site} ${task.queue} ${task.priority}`;
    const cached = lanes.get(key);
    if (cached !== undefined) return cached;
    const lane = tx.laneFor(job, tx.siteNamed(task.site), task.queue, task.priority);
    lanes.set(key, lane);
    return lane;
  };
}

/** How soon a submitter should retry after `enqueue` reached the cap. */
const FULL_RETRY_MS = 1000;

/** Queues as many tasks of a batch as the cap allows (F13). */
export function enqueueBatch(
  { runTransaction, admitMany }: { runTransaction: RunTransaction; admitMany: AdmitMany },
  jobId: string,
  tasks: readonly NewTask[],
  maxPending: number,
): EnqueueAnswer {
  return runTransaction((tx) => {
    const job = getJob(tx, jobId, "frontier.enqueue");
    if (job.stopped === 1 || job.sealed === 1) {
      throw new TrawlError("JOB_ENDED", {
        op: "frontier.enqueue",
        message: `job ${jobId} is ${job.sealed === 1 ? "sealed" : job.state} and accepts no more URLs; start a new job`,
        detail: { jobId, state: job.state },
      });
    }
    const free = Math.max(0, maxPending - tx.totals.pending);
    const result = admitMany(tx, job, tasks.slice(0, free), "submitted");
    return free < tasks.length ? { ...result, full: { taken: free, retryAfterMs: FULL_RETRY_MS } } : result;
  }).value;
}

/**
 * Max links per transaction. Each transaction writes the changed pages of the index of seen URLs, so larger ones cost
 * less: at 500,000 seen URLs, a URL takes 29 µs in transactions of 2,000, and 40 µs in transactions of 500.
 */
const MAX_LINKS = 2000;

/** Splits many links of a task into batches, and lets other work of this process run between them (F17). */
export async function discoverInBatches(
  tasks: readonly NewTask[],
  discover: (batch: readonly NewTask[]) => Promise<boolean>,
): Promise<boolean> {
  for (let from = 0; from === 0 || from < tasks.length; from += MAX_LINKS) {
    if (from > 0) await setImmediate();
    if (!(await discover(tasks.slice(from, from + MAX_LINKS)))) return false;
  }
  return true;
}

/** Splits a large submission into batches, and lets other work of this process run between them (F17). */
export async function enqueueInBatches(
  tasks: readonly NewTask[],
  enqueue: (batch: readonly NewTask[]) => Promise<EnqueueAnswer>,
): Promise<EnqueueAnswer> {
  const total = { queued: 0, duplicates: 0, refused: [] as EnqueueAnswer["refused"][number][] };
  // Runs once even without tasks, so that a missing or ended job always throws.
  for (let from = 0; from === 0 || from < tasks.length; from += MAX_BATCH) {
    if (from > 0) await setImmediate();
    const part = await enqueue(tasks.slice(from, from + MAX_BATCH));
    total.queued += part.queued;
    total.duplicates += part.duplicates;
    total.refused.push(...part.refused.map(({ index, reason }) => ({ index: index + from, reason })));
    if (part.full !== undefined) return { ...total, full: { ...part.full, taken: part.full.taken + from } };
  }
  return total;
}
