/**
 * Ends leases. A settlement ends a lease as done, retry, dead or refused (F7, F8, F14). `release`, `expire` and
 * `abandon` queue the task again (F6). Up to MAX_BATCH settlements with up to MAX_LINKS links are one transaction. A
 * crash before the commit leaves the leases unchanged, and they expire later.
 */
import { backoffMs, siteBackoffMs } from "../../domain/backoff.ts";
import type { DeadReason, NewTask } from "../../domain/task.ts";
import { afterThrottled } from "../../domain/throttling.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import {
  baseQueue,
  type Claim,
  claimKey,
  MAX_BATCH,
  MAX_CRASHES,
  queueAfter,
  type SettleAnswer,
  type SettledState,
  type Settlement,
  type TaskOutcome,
} from "../frontier.ts";
import type { FailedAttempt } from "../frontier-admin.ts";
import type { AdmitMany } from "./admit-many.ts";
import type { Admit } from "./enqueue.ts";
import { type JobRow, type LaneRow, type SiteRow, type TaskRow, throttlingOf } from "./rows.ts";
import type { RunTransaction, Transaction } from "./transaction.ts";

type Names =
  | "leasedTasks"
  | "extend"
  | "dropTasks"
  | "delayTask"
  | "returnTask"
  | "expiredTasks"
  | "tasksOfWorker"
  | "addDead";

type Settler = {
  settle(settlements: readonly Settlement[]): SettleAnswer;
  discover(claim: Claim, tasks: readonly NewTask[]): boolean;
  extend(claims: readonly Claim[], leaseMs: number): boolean[];
  release(claims: readonly Claim[]): void;
  expire(max: number): number;
  abandon(worker: string, crashed?: readonly Claim[]): number;
};

type Deps = { db: Database; runTransaction: RunTransaction; admit: Admit; admitMany: AdmitMany };

export function createSettler({ db, runTransaction, admit, admitMany }: Deps): Settler {
  const sql = prepareAll<Names>(db, new URL("./sql/settle.sql", import.meta.url));

  /** The tasks of these claims that are leased, by their current claim. A stale claim is not in the map. */
  function leasedBy(claims: readonly Claim[]): Map<string, TaskRow> {
    const rows = sql.leasedTasks.all(idList(claims.map((claim) => Number(claim.taskId)))) as unknown as TaskRow[];
    return new Map(rows.map((row) => [claimKey({ taskId: String(row.id), token: row.token }), row]));
  }

  function settleBatch(tx: Transaction, settlements: readonly Settlement[]): SettledState[] {
    const leased = leasedBy(settlements);
    const ended: number[] = [];
    const states = settlements.map((settlement) => {
      const task = leased.get(claimKey(settlement));
      if (task === undefined) return "stale";
      leased.delete(claimKey(settlement)); // the same claim twice in one call is stale the second time
      const lease = endLease(tx, task);
      updateSiteBackoff(tx, lease, settlement.site);
      const state = applyOutcome(tx, lease, settlement.outcome);
      if (state !== "retry") ended.push(task.id);
      if (settlement.outcome.kind === "done") addResults(tx, lease, settlement);
      return state;
    });
    if (ended.length > 0) sql.dropTasks.run(idList(ended));
    return states;
  }

  function addResults(
    tx: Transaction,
    { job, site }: EndedLease,
    { discovered, refusedLinks, tally }: Settlement,
  ): void {
    if (discovered.length > 0) admit(tx, job, discovered, "discovered");
    job.discovered += refusedLinks;
    job.refused += refusedLinks;
    const counters = tx.countersAt(job, site);
    counters.done += 1;
    if (tally.pages > 0) counters.lastPageAt = tx.now;
    for (const name of TALLIED) {
      job[name] += tally[name];
      counters[name] += tally[name];
    }
  }

  function applyOutcome(tx: Transaction, lease: EndedLease, outcome: TaskOutcome): SettledState {
    const { job, task } = lease;
    switch (outcome.kind) {
      case "done":
        job.done += 1;
        return "done";
      case "refused":
        job.refused += 1;
        return "refused";
      case "dead":
        addDeadLetter(tx, lease, outcome.because, outcome.status, history(tx, task, outcome));
        return "dead";
      case "retry":
        return retry(tx, lease, outcome);
    }
  }

  function retry(tx: Transaction, lease: EndedLease, outcome: TaskOutcome & { kind: "retry" }): SettledState {
    const { job, task } = lease;
    const failures = task.failures + 1;
    if (failures > job.retries_max) {
      addDeadLetter(tx, lease, "retries_spent", outcome.status, history(tx, task, outcome));
      return "dead";
    }
    if (job.stopped === 1) {
      job.cancelled += 1;
      return "cancelled";
    }
    const waitMs = Math.max(backoffMs(job.backoff_ms, failures, task.id), outcome.retryAfterMs ?? 0);
    const lane = laneAfter(tx, lease, 0);
    sql.delayTask.run(lane.n, tx.now + waitMs, failures, JSON.stringify(history(tx, task, outcome)), task.id);
    lane.delayed += 1;
    job.delayed += 1;
    tx.totals.pending += 1;
    return "retry";
  }

  function addDeadLetter(
    tx: Transaction,
    { job, lane, site, task }: EndedLease,
    reason: DeadReason,
    status: number | undefined,
    attempts: FailedAttempt[],
  ): void {
    sql.addDead.run(
      task.id,
      job.n,
      site.site,
      baseQueue(lane.queue),
      lane.priority,
      task.url,
      task.kind,
      task.depth,
      task.handler,
      task.carry,
      task.request,
      task.redirects,
      task.token,
      reason,
      status ?? null,
      tx.now,
      JSON.stringify(attempts),
    );
    job.dead += 1;
    tx.countersAt(job, site).dead += 1;
  }

  /**
   * Queues tasks again. Suspects are queued on a separate queue. A task that has crashed MAX_CRASHES workers becomes a
   * dead letter, and a task of a stopped job is cancelled.
   */
  function returnTasks(tx: Transaction, tasks: readonly TaskRow[], hasCrashed: (task: TaskRow) => boolean): void {
    const ended: number[] = [];
    for (const task of tasks) {
      const lease = endLease(tx, task);
      const isCrash = hasCrashed(task);
      // The grant has already counted a crash, unless the task was granted ahead of its turn.
      const crashes = task.crashes - (1 - task.ahead) + (isCrash ? 1 : 0);
      if (isCrash && crashes >= MAX_CRASHES) {
        const attempt = { because: "crashed_worker", detail: `held by ${task.worker}` };
        addDeadLetter(tx, lease, "crashed_worker", undefined, history(tx, task, attempt));
        ended.push(task.id);
      } else if (lease.job.stopped === 1) {
        lease.job.cancelled += 1;
        ended.push(task.id);
      } else {
        const state = task.not_before === null ? "queued" : "delayed"; // a retry stays delayed
        const lane = laneAfter(tx, lease, crashes);
        sql.returnTask.run(lane.n, state, crashes, task.id);
        lane[state] += 1;
        lease.job[state] += 1;
        tx.totals.pending += 1;
      }
    }
    if (ended.length > 0) sql.dropTasks.run(idList(ended));
  }

  return {
    settle(settlements) {
      const result = { states: [] as SettledState[], finished: [] as string[] };
      for (const batch of batches(settlements)) {
        const { value, finished } = runTransaction((tx) => settleBatch(tx, batch));
        result.states.push(...value);
        result.finished.push(...finished);
      }
      return result;
    },
    discover: (claim, tasks) =>
      runTransaction((tx) => {
        const task = leasedBy([claim]).get(claimKey(claim));
        if (task !== undefined) admitMany(tx, tx.job(task.job), tasks, "discovered");
        return task !== undefined;
      }).value,
    extend: (claims, leaseMs) =>
      split(claims).flatMap(
        (part) =>
          runTransaction((tx) =>
            part.map(
              ({ taskId, token }) => Number(sql.extend.run(tx.now + leaseMs, Number(taskId), token).changes) > 0,
            ),
          ).value,
      ),
    release(claims) {
      for (const part of split(claims)) {
        runTransaction((tx) => returnTasks(tx, [...leasedBy(part).values()].filter(isIn(part)), NO_CRASH));
      }
    },
    expire: (max) =>
      runTransaction((tx) => {
        const expired = sql.expiredTasks.all(tx.now, Math.min(max, MAX_BATCH)) as unknown as TaskRow[];
        returnTasks(tx, expired, wasStarted);
        return expired.length;
      }).value,
    abandon(worker, crashed) {
      const hasCrashed = crashed === undefined ? wasStarted : isIn(crashed);
      let total = 0;
      for (let moved = MAX_BATCH; moved === MAX_BATCH; total += moved) {
        moved = runTransaction((tx) => {
          const held = sql.tasksOfWorker.all(worker, MAX_BATCH) as unknown as TaskRow[];
          // Sorted by id, as on the other backends, because lanes are served in the order in which they are created.
          returnTasks(
            tx,
            held.sort((one, other) => one.id - other.id),
            hasCrashed,
          );
          return held.length;
        }).value;
      }
      return total;
    },
  };
}

const NO_CRASH = () => false;

/**
 * Whether an unfinished lease counts as a crash if the supervisor has not reported which tasks crashed: not if the task
 * was granted ahead of its turn.
 */
const wasStarted = (task: TaskRow) => task.ahead === 0;

const TALLIED = ["pages", "records", "invalid", "bytes"] as const;

type EndedLease = { task: TaskRow; job: JobRow; lane: LaneRow; site: SiteRow };

/** Removes a task from the counts of leased tasks. The caller decides what happens to the task next. */
function endLease(tx: Transaction, task: TaskRow): EndedLease {
  const lease = { task, job: tx.job(task.job), lane: tx.lane(task.lane), site: tx.site(task.site) };
  lease.job.leased -= 1;
  lease.lane.leased -= 1;
  lease.site.in_flight -= 1;
  // If this task should have fetched robots.txt and did not, the task of the next grant at the site must fetch it.
  if (lease.site.robots_asker === task.id) lease.site.robots_asker = null;
  return lease;
}

/** The lane in which a task with this many crashes waits next: suspects have a lane of their own. */
function laneAfter(tx: Transaction, { job, lane, site }: EndedLease, crashes: number): LaneRow {
  const queue = queueAfter(crashes, lane.queue);
  return queue === lane.queue ? lane : tx.laneFor(job, site, queue, lane.priority);
}

/**
 * Updates the backoff of a site after a response. A throttled response starts or extends the backoff, unless it belongs
 * to a single page. During a backoff it is not a new incident, because its request was sent before the backoff. A good
 * response after a backoff resets the number of incidents.
 */
function updateSiteBackoff(tx: Transaction, { site, task }: EndedLease, signal: Settlement["site"]): void {
  if (signal.kind === "ok") {
    site.is_good = 1;
    if (site.blocked_until <= tx.now) site.incidents = 0;
  }
  if (signal.kind !== "throttled" || (signal.cause !== "robots" && !countThrottled(site, task.failures > 0))) return;
  if (site.blocked_until <= tx.now) site.incidents += 1;
  const until = tx.now + (signal.retryAfterMs ?? siteBackoffMs(site.incidents));
  if (until <= site.blocked_until) return;
  site.blocked_until = until;
  site.backoff_cause = signal.cause ?? null;
}

/** Counts a throttled response. Returns whether it starts a backoff of the site. */
function countThrottled(site: SiteRow, isRetry: boolean): boolean {
  const { isolated, isGood, pauses } = afterThrottled(throttlingOf(site), isRetry);
  site.isolated = isolated;
  site.is_good = isGood ? 1 : 0;
  return pauses;
}

function history(
  tx: Transaction,
  task: TaskRow,
  last: { because: string; status?: number; detail?: string },
): FailedAttempt[] {
  const past = task.history === null ? [] : (JSON.parse(task.history) as FailedAttempt[]);
  const { because, status, detail } = last;
  return [
    ...past,
    { at: tx.now, because, ...(status === undefined ? {} : { status }), ...(detail === undefined ? {} : { detail }) },
  ];
}

/**
 * Maximum number of links per transaction. If all links are new, the transaction takes 16 ms. Most links are in the
 * cache of seen URLs and cost almost nothing.
 */
const MAX_LINKS = 2000;

/**
 * Splits settlements into batches of at most MAX_BATCH settlements and MAX_LINKS links, with at least one settlement
 * each.
 */
function* batches(settlements: readonly Settlement[]): Generator<readonly Settlement[]> {
  let batch: Settlement[] = [];
  let links = 0;
  for (const settlement of settlements) {
    const isFull = batch.length === MAX_BATCH || links + settlement.discovered.length > MAX_LINKS;
    if (batch.length > 0 && isFull) {
      yield batch;
      batch = [];
      links = 0;
    }
    batch.push(settlement);
    links += settlement.discovered.length;
  }
  if (batch.length > 0) yield batch;
}

/** Splits claims into batches of MAX_BATCH (F17). */
function split(claims: readonly Claim[]): (readonly Claim[])[] {
  const parts: (readonly Claim[])[] = [];
  for (let from = 0; from < claims.length; from += MAX_BATCH) parts.push(claims.slice(from, from + MAX_BATCH));
  return parts;
}

function isIn(claims: readonly Claim[]): (task: TaskRow) => boolean {
  const keys = new Set(claims.map(claimKey));
  return (task) => keys.has(claimKey({ taskId: String(task.id), token: task.token }));
}

/** The ids as a JSON list. Omits ids that are not integers, because no task has such an id. */
function idList(ids: readonly number[]): string {
  return `[${ids.filter(Number.isSafeInteger).join(",")}]`;
}
