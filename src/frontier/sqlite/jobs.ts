/**
 * Creates, seals, changes and ends jobs (F11, F12). A change is one transaction on the job's row. The job's lanes are
 * then updated in order of their numbers, in transactions of at most MAX_BATCH lanes. Pause, resume, cancel and limits
 * apply from the next call on; priority and rate apply to each lane when the lane is updated. `synced_lane` is the
 * number of the last updated lane, 0 if none is updated yet, and null if the job has no change to apply. A crash
 * between two transactions leaves a number there, and the next reaper continues after that lane.
 */

import { hasEnded, JOB_MOVES, type JobState, type Ledger } from "../../domain/job.ts";
import type { SitePolicy } from "../../domain/politeness.ts";
import { TrawlError } from "../../errors.ts";
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { MAX_BATCH, type NewJob, type Tally } from "../frontier.ts";
import { inOrderOf, type JobView, type LimitChange } from "../frontier-admin.ts";
import { endedAdvice, jobNotFound, tooLateForLimits } from "../job-errors.ts";
import { createSpecParser } from "../spec-cache.ts";
import { rankOf } from "./readiness.ts";
import { type JobRow, type LaneRow, policyFor, policyOf, setPolicy } from "./rows.ts";
import { must, type RunTransaction, type Transaction } from "./transaction.ts";

type StatementName =
  | "addScope"
  | "scopeNumber"
  | "addJob"
  | "findJob"
  | "findJobs"
  | "listJobs"
  | "listOpen"
  | "listEnded"
  | "unsyncedJob"
  | "overdueJob"
  | "lanesAfter"
  | "dropQueued"
  | "dropDelayed";

type Jobs = {
  create(job: NewJob): void;
  seal(jobId: string): boolean;
  find(jobId: string): JobView | undefined;
  /** In the order of `jobIds`. */
  findAll(jobIds: readonly string[]): JobView[];
  /** Newest first. */
  list(limit: number, createdBefore: number): JobView[];
  /** Newest first. */
  listOpen(limit: number, createdBefore: number): JobView[];
  /** Oldest end first. */
  listEnded(endedBefore: number, limit: number): JobView[];
  pause(jobId: string): JobView;
  resume(jobId: string): JobView;
  cancel(jobId: string): JobView;
  setPriority(jobId: string, priority: number): JobView;
  setPolicy(jobId: string, policy: SitePolicy): JobView;
  setLimits(jobId: string, change: LimitChange): JobView;
  /**
   * In one transaction: stops one job past its deadline, and updates the next lanes of one changed job. Returns false
   * if there is nothing to do.
   */
  maintain(): boolean;
};

type Deps = { db: Database; runTransaction: RunTransaction };

export function createJobs({ db, runTransaction }: Deps): Jobs {
  const sql = prepareAll<StatementName>(db, new URL("./sql/jobs.sql", import.meta.url));
  const parseSpec = createSpecParser();
  const viewOf = (row: Row): JobView => toView(row as unknown as ViewRow, parseSpec);

  function create(job: NewJob): void {
    runTransaction((tx) => {
      const scope = job.dedup.scope === "job" ? `job:${job.id}` : `set:${job.dedup.scope}`;
      sql.addScope.run(scope);
      const { n: scopeNumber } = sql.scopeNumber.get(scope) ?? {};
      const { policy, retries, limits } = job;
      sql.addJob.run(
        job.id,
        job.name,
        job.queue,
        job.priority,
        job.priority,
        policy.intervalMs,
        policy.burst,
        policy.perSite,
        JSON.stringify(job.sites),
        job.robots ? 1 : 0,
        retries.max,
        retries.backoffMs,
        limits.pages ?? null,
        limits.deadlineAt ?? null,
        scopeNumber as number,
        "expireAfterMs" in job.dedup ? job.dedup.expireAfterMs : null,
        JSON.stringify(job.spec),
        tx.now,
      );
    });
  }

  /** Changes the row of a job, then updates its lanes in further transactions. */
  function change(jobId: string, op: string, work: (job: JobRow, tx: Transaction) => void): JobView {
    runTransaction((tx) => {
      const job = getJob(tx, jobId, op);
      work(job, tx);
      job.synced_lane = 0;
    });
    while (maintain()) {}
    return viewOf(must(sql.findJob.get(jobId)));
  }

  function stop(tx: Transaction, job: JobRow): void {
    job.stopped = 1;
    job.sealed = 1;
    tx.totals.pending -= job.queued + job.delayed;
    job.cancelled += job.queued + job.delayed;
    job.queued = 0;
    job.delayed = 0;
    job.synced_lane = 0;
  }

  function maintain(): boolean {
    return runTransaction((tx) => {
      const overdue = sql.overdueJob.get(tx.now);
      if (overdue !== undefined) stop(tx, tx.job(overdue.n as number));
      const unsynced = sql.unsyncedJob.get() ?? overdue;
      if (unsynced === undefined) return false;
      sync(tx, tx.job(unsynced.n as number));
      return true;
    }).value;
  }

  /** Applies the job's state and settings to the next of its lanes. */
  function sync(tx: Transaction, job: JobRow): void {
    let dropsLeft = MAX_BATCH;
    for (const row of sql.lanesAfter.all(job.n, job.synced_lane, MAX_BATCH)) {
      const lane = tx.lane(row.n as number);
      if (job.stopped === 1) {
        dropsLeft -= emptyLane(lane, dropsLeft);
        if (lane.queued + lane.delayed > 0) return; // the next transaction continues with this lane
      }
      lane.rank = rankOf(job, lane.priority);
      setPolicy(lane, policyFor(job, tx.site(lane.site).site));
      tx.updatePolicy(tx.site(lane.site));
      job.synced_lane = lane.n;
      if (dropsLeft <= 0) return;
    }
    if (sql.lanesAfter.get(job.n, job.synced_lane, 1) === undefined) job.synced_lane = null;
  }

  function emptyLane(lane: LaneRow, max: number): number {
    const queued = Number(sql.dropQueued.run(lane.n, max).changes);
    const delayed = Number(sql.dropDelayed.run(lane.n, max - queued).changes);
    lane.queued -= queued;
    lane.delayed -= delayed;
    return queued + delayed;
  }

  return {
    create,
    seal: (jobId) =>
      runTransaction((tx) => {
        getJob(tx, jobId, "frontier.seal").sealed = 1;
      }).finished.includes(jobId),
    find(jobId) {
      const row = sql.findJob.get(jobId);
      return row === undefined ? undefined : viewOf(row);
    },
    findAll(jobIds) {
      return inOrderOf(jobIds, sql.findJobs.all(JSON.stringify(jobIds)).map(viewOf));
    },
    list: (limit, createdBefore) => sql.listJobs.all(createdBefore, limit).map(viewOf),
    listOpen: (limit, createdBefore) => sql.listOpen.all(createdBefore, limit).map(viewOf),
    listEnded: (endedBefore, limit) => sql.listEnded.all(endedBefore, limit).map(viewOf),
    pause: (jobId) => change(jobId, "frontier.pause", (job) => move(job, "paused", "frontier.pause")),
    resume: (jobId) => change(jobId, "frontier.resume", (job) => move(job, "running", "frontier.resume")),
    cancel: (jobId) =>
      change(jobId, "frontier.cancel", (job, tx) => {
        move(job, "cancelled", "frontier.cancel");
        stop(tx, job);
      }),
    setPriority: (jobId, priority) =>
      change(jobId, "frontier.setPriority", (job) => {
        job.priority = priority;
      }),
    setPolicy: (jobId, policy) => change(jobId, "frontier.setPolicy", (job) => setPolicy(job, policy)),
    setLimits: (jobId, limits) => change(jobId, "frontier.setLimits", (job) => setLimits(job, limits)),
    maintain,
  };
}

/** Throws NOT_FOUND. */
export function getJob(tx: Transaction, jobId: string, op: string): JobRow {
  const job = tx.findJob(jobId);
  if (job === undefined) throw jobNotFound(jobId, op);
  return job;
}

/**
 * Does nothing if the job is already in that state. Throws JOB_ENDED for a move that JOB_MOVES does not allow, and for
 * an ended job that should run again: only a replay of its dead letters does that.
 */
function move(job: JobRow, to: JobState, op: string): void {
  if (job.state === to) return;
  const isReplayOnly = hasEnded(job.state) && to === "running";
  if (!isReplayOnly && (JOB_MOVES[job.state] as readonly string[]).includes(to)) {
    job.state = to;
    return;
  }
  throw new TrawlError("JOB_ENDED", {
    op,
    message: `job ${job.id} is ${job.state} and cannot become ${to}; ${endedAdvice(job.state)}`,
    detail: { jobId: job.id, state: job.state },
  });
}

function setLimits(job: JobRow, { pages, deadlineAt }: LimitChange): void {
  if (job.stopped === 1 || hasEnded(job.state)) throw tooLateForLimits(job.id, job.state);
  if (pages !== undefined) job.page_limit = pages;
  if (deadlineAt !== undefined) job.deadline_at = deadlineAt;
}

/** A job as the statements in sql/jobs.sql return it. `counters`: its ledger and its tally, as a JSON array. */
type ViewRow = Omit<JobRow, keyof Ledger | keyof Tally> & { counters: string };

function toView(row: ViewRow, parseSpec: (jobId: string, text: string) => JobView["spec"]): JobView {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    sealed: row.sealed === 1,
    queue: row.queue,
    priority: row.priority,
    policy: policyOf(row),
    limits: { pages: row.page_limit ?? undefined, deadlineAt: row.deadline_at ?? undefined },
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
    ...countersOf(row.counters),
    spec: parseSpec(row.id, row.spec),
  };
}

function countersOf(json: string): Pick<JobView, "counts" | "tally"> {
  const [submitted, discovered, queued, delayed, leased, done, dead, cancelled, duplicate, refused, ...tally] =
    JSON.parse(json) as Counters;
  const [pages, records, invalid, bytes] = tally;
  return {
    counts: { submitted, discovered, queued, delayed, leased, done, dead, cancelled, duplicate, refused },
    tally: { pages, records, invalid, bytes },
  };
}

type Five = [number, number, number, number, number];
/** The ten counts of the ledger, then the four of the tally. */
type Counters = [...Five, ...Five, number, number, number, number];
