/**
 * Ends leases: done, retry, dead or refused with what the page brought (F7, F8, F14), or handed back by release, by the
 * reaper, or because the worker is known to be dead (F6). Settlements of one call, up to BATCH_MOST of them and LINKS_MOST links, are
 * one step; a crash before its commit leaves the leases as they were, to expire.
 */
import { backoffMs, siteRestMs } from "../../domain/backoff.ts";
import type { DeadReason } from "../../domain/task.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import {
  BATCH_MOST,
  baseQueue,
  type Claim,
  CRASHES_MOST,
  claimKey,
  queueAfter,
  type SettleAnswer,
  type Settlement,
  type TaskOutcome,
} from "../frontier.ts";
import type { Misfortune } from "../frontier-admin.ts";
import type { Admit } from "./admit.ts";
import type { JobRow, LaneRow, SiteRow, TaskRow } from "./rows.ts";
import type { Step, Stepper } from "./step.ts";

type Names =
  | "leasedTasks"
  | "extend"
  | "dropTasks"
  | "delayTask"
  | "handBackTask"
  | "expiredTasks"
  | "tasksOfWorker"
  | "addDead";

export type Leases = {
  settle(settlements: readonly Settlement[]): SettleAnswer;
  extend(claims: readonly Claim[], leaseMs: number): boolean[];
  release(claims: readonly Claim[]): void;
  expire(max: number): number;
  abandon(worker: string): number;
};

type Deps = { db: Database; stepper: Stepper; admit: Admit };

export function createLeases({ db, stepper, admit }: Deps): Leases {
  const sql = prepareAll<Names>(db, new URL("./sql/settle.sql", import.meta.url));

  function leasedBy(claims: readonly Claim[]): Map<string, TaskRow> {
    const rows = sql.leasedTasks.all(idList(claims.map((claim) => Number(claim.taskId)))) as unknown as TaskRow[];
    return new Map(rows.map((row) => [claimKey({ taskId: String(row.id), token: row.token }), row]));
  }

  function settleStep(step: Step, settlements: readonly Settlement[]): ("settled" | "stale")[] {
    const leased = leasedBy(settlements);
    const ended: number[] = [];
    const verdicts = settlements.map((settlement) => {
      const task = leased.get(claimKey(settlement));
      if (task === undefined) return "stale";
      leased.delete(claimKey(settlement)); // the same claim twice in one call is stale the second time
      const lease = endLease(step, task);
      hearSite(step, lease.site, settlement.site);
      if (applyOutcome(step, lease, settlement.outcome) === "ended") ended.push(task.id);
      if (settlement.outcome.kind === "done") bringIn(step, lease, settlement);
      return "settled";
    });
    if (ended.length > 0) sql.dropTasks.run(idList(ended));
    return verdicts;
  }

  function bringIn(step: Step, { job, site }: EndedLease, { discovered, refusedLinks, tally }: Settlement): void {
    if (discovered.length > 0) admit(step, job, discovered, "discovered");
    job.discovered += refusedLinks;
    job.refused += refusedLinks;
    const gain = step.atSite(job, site);
    gain.done += 1;
    if (tally.pages > 0) gain.lastPageAt = step.now;
    for (const name of TALLIED) {
      job[name] += tally[name];
      gain[name] += tally[name];
    }
  }

  function applyOutcome(step: Step, lease: EndedLease, outcome: TaskOutcome): "ended" | "waits" {
    const { job, task } = lease;
    switch (outcome.kind) {
      case "done":
        job.done += 1;
        return "ended";
      case "refused":
        job.refused += 1;
        return "ended";
      case "dead":
        bury(step, lease, outcome.because, outcome.status, history(step, task, outcome));
        return "ended";
      case "retry":
        return retry(step, lease, outcome);
    }
  }

  function retry(step: Step, lease: EndedLease, outcome: TaskOutcome & { kind: "retry" }): "ended" | "waits" {
    const { job, task } = lease;
    const failures = task.failures + 1;
    if (failures > job.retries_max) {
      bury(step, lease, "retries_spent", outcome.status, history(step, task, outcome));
      return "ended";
    }
    if (job.stopped === 1) {
      job.cancelled += 1;
      return "ended";
    }
    const waitMs = Math.max(backoffMs(job.backoff_ms, failures, task.id), outcome.retryAfterMs ?? 0);
    const home = laneAfter(step, lease, 0);
    sql.delayTask.run(home.n, step.now + waitMs, failures, JSON.stringify(history(step, task, outcome)), task.id);
    home.delayed += 1;
    job.delayed += 1;
    step.totals.pending += 1;
    return "waits";
  }

  function bury(
    step: Step,
    { job, lane, site, task }: EndedLease,
    reason: DeadReason,
    status: number | undefined,
    past: Misfortune[],
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
      task.redirects,
      task.token,
      reason,
      status ?? null,
      step.now,
      JSON.stringify(past),
    );
    job.dead += 1;
    step.atSite(job, site).dead += 1;
  }

  /** Back to where it was, or among the suspects, unless it has taken down too many workers or its job is over. */
  function handBack(step: Step, tasks: readonly TaskRow[], crashed: boolean): void {
    const ended: number[] = [];
    for (const task of tasks) {
      const lease = endLease(step, task);
      if (crashed && task.crashes >= CRASHES_MOST) {
        const misfortune = { because: "crashed_worker", detail: `held by ${task.worker}` };
        bury(step, lease, "crashed_worker", undefined, history(step, task, misfortune));
        ended.push(task.id);
      } else if (lease.job.stopped === 1) {
        lease.job.cancelled += 1;
        ended.push(task.id);
      } else {
        // An untouched task has crashed nobody: its count is as before the grant. A retry goes back among the retries.
        const crashes = crashed ? task.crashes : task.crashes - 1;
        const state = task.not_before === null ? "queued" : "delayed";
        const lane = laneAfter(step, lease, crashes);
        sql.handBackTask.run(lane.n, state, crashes, task.id);
        lane[state] += 1;
        lease.job[state] += 1;
        step.totals.pending += 1;
      }
    }
    if (ended.length > 0) sql.dropTasks.run(idList(ended));
  }

  return {
    settle(settlements) {
      const answer = { verdicts: [] as ("settled" | "stale")[], finished: [] as string[] };
      for (const batch of batches(settlements)) {
        const { value, finished } = stepper.run((step) => settleStep(step, batch));
        answer.verdicts.push(...value);
        answer.finished.push(...finished);
      }
      return answer;
    },
    extend: (claims, leaseMs) =>
      split(claims).flatMap(
        (part) =>
          stepper.run((step) =>
            part.map(
              ({ taskId, token }) => Number(sql.extend.run(step.now + leaseMs, Number(taskId), token).changes) > 0,
            ),
          ).value,
      ),
    release(claims) {
      for (const part of split(claims)) {
        stepper.run((step) => handBack(step, [...leasedBy(part).values()].filter(isIn(part)), false));
      }
    },
    expire: (max) =>
      stepper.run((step) => {
        const expired = sql.expiredTasks.all(step.now, Math.min(max, BATCH_MOST)) as unknown as TaskRow[];
        handBack(step, expired, true);
        return expired.length;
      }).value,
    abandon(worker) {
      let total = 0;
      for (let moved = BATCH_MOST; moved === BATCH_MOST; total += moved) {
        moved = stepper.run((step) => {
          const held = sql.tasksOfWorker.all(worker, BATCH_MOST) as unknown as TaskRow[];
          // In order of their numbers, as everywhere: new lanes take their turns in order of their making.
          handBack(
            step,
            held.sort((one, other) => one.id - other.id),
            true,
          );
          return held.length;
        }).value;
      }
      return total;
    },
  };
}

const TALLIED = ["pages", "records", "invalid", "bytes"] as const;

type EndedLease = { task: TaskRow; job: JobRow; lane: LaneRow; site: SiteRow };

/** Takes a task out of the counts of what is leased; the caller says where it goes. */
function endLease(step: Step, task: TaskRow): EndedLease {
  const lease = { task, job: step.job(task.job), lane: step.lane(task.lane), site: step.site(task.site) };
  lease.job.leased -= 1;
  lease.lane.leased -= 1;
  lease.site.in_flight -= 1;
  // Whoever was to bring robots.txt has ended; if it did not, another is asked.
  if (lease.site.robots_asker === task.id) lease.site.robots_asker = null;
  return lease;
}

/** Where a task waits that so many workers have died with. */
function laneAfter(step: Step, { job, lane, site }: EndedLease, crashes: number): LaneRow {
  const queue = queueAfter(crashes, lane.queue);
  return queue === lane.queue ? lane : step.laneFor(job, site, queue, lane.priority);
}

/** Back-off of the whole site. Answers of requests sent before it began are the same incident, not a new one. */
function hearSite(step: Step, site: SiteRow, heard: Settlement["site"]): void {
  if (heard.kind === "ok" && site.blocked_until <= step.now) site.incidents = 0;
  if (heard.kind !== "throttled") return;
  if (site.blocked_until <= step.now) site.incidents += 1;
  const restMs = heard.retryAfterMs ?? siteRestMs(site.incidents);
  site.blocked_until = Math.max(site.blocked_until, step.now + restMs);
}

function history(step: Step, task: TaskRow, last: { because: string; status?: number; detail?: string }): Misfortune[] {
  const past = task.history === null ? [] : (JSON.parse(task.history) as Misfortune[]);
  const { because, status, detail } = last;
  return [
    ...past,
    { at: step.now, because, ...(status === undefined ? {} : { status }), ...(detail === undefined ? {} : { detail }) },
  ];
}

/** Links a step takes in: should all of them be new, 16 ms; most are known to be seen, and cost next to nothing. */
const LINKS_MOST = 2000;

/** So many settlements that they and their links stay within one step's measure; at least one. */
function* batches(settlements: readonly Settlement[]): Generator<readonly Settlement[]> {
  let batch: Settlement[] = [];
  let links = 0;
  for (const settlement of settlements) {
    const isOver = batch.length === BATCH_MOST || links + settlement.discovered.length > LINKS_MOST;
    if (batch.length > 0 && isOver) {
      yield batch;
      batch = [];
      links = 0;
    }
    batch.push(settlement);
    links += settlement.discovered.length;
  }
  if (batch.length > 0) yield batch;
}

/** As many claims as one step takes, at a time (F17). */
function split(claims: readonly Claim[]): (readonly Claim[])[] {
  const parts: (readonly Claim[])[] = [];
  for (let from = 0; from < claims.length; from += BATCH_MOST) parts.push(claims.slice(from, from + BATCH_MOST));
  return parts;
}

function isIn(claims: readonly Claim[]): (task: TaskRow) => boolean {
  const keys = new Set(claims.map(claimKey));
  return (task) => keys.has(claimKey({ taskId: String(task.id), token: task.token }));
}

/** As JSON. What is no number names no task, and is left out. */
function idList(ids: readonly number[]): string {
  return `[${ids.filter(Number.isSafeInteger).join(",")}]`;
}
