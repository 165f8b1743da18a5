/**
 * One write transaction on the broker file. An operation loads rows through a transaction and changes them in memory.
 * At the end the transaction writes each touched row back once, computes when every touched site is due next, and
 * finishes jobs that have nothing left. So F8 and F10 hold for every operation. A crash leaves the file as it was
 * before the transaction. All operations that change jobs, sites, lanes or tasks use it, except forget.ts.
 */
import { isOffline, onlineSite } from "../../domain/offline-site.ts";
import { type Database, prepareAll, type Row, type Statement } from "../../runtime/sqlite.ts";
import type { Tally } from "../frontier.ts";
import type { SeenCache } from "../seen-cache.ts";
import { rankOf } from "./readiness.ts";
import { type JobRow, type LaneRow, policyFor, type SiteRow } from "./rows.ts";
import { saveRows } from "./save-rows.ts";

type Totals = { next_task: number; next_served: number; pending: number };

export type Transaction = {
  now: number;
  totals: Totals;
  job(n: number): JobRow;
  findJob(id: string): JobRow | undefined;
  site(n: number): SiteRow;
  /** Adds the site if it does not exist. */
  siteNamed(site: string): SiteRow;
  lane(n: number): LaneRow;
  /** Adds the lane if it does not exist. */
  laneFor(job: JobRow, site: SiteRow, queue: string, priority: number): LaneRow;
  /**
   * Call this after a change that may affect the policy of the site. The transaction recomputes the policy and the
   * turns of the site before it commits.
   */
  updatePolicy(site: SiteRow): void;
  /** The amounts that this transaction adds to the job's counters at the site. */
  countersAt(job: JobRow, site: SiteRow): SiteCounters;
  /** Adds a URL to the process's cache of seen URLs, once this transaction commits. */
  cacheSeen(scope: number, url: string): void;
  isCachedSeen(scope: number, url: string): boolean;
};

/** Work at an offline site counts for the site whose pages it processes. */
type SiteCounters = Tally & { job: number; site: string; done: number; dead: number; lastPageAt: number | null };

/** Runs `work` in one transaction. `finished`: the ids of the jobs that it finished. */
export type RunTransaction = <T>(work: (tx: Transaction) => T) => { value: T; finished: string[] };

type Names =
  | "job"
  | "jobById"
  | "saveJob"
  | "site"
  | "siteNumber"
  | "addSite"
  | "saveSite"
  | "strictest"
  | "lane"
  | "laneNumber"
  | "addLane"
  | "saveLane"
  | "dropLane"
  | "firstRetryAt"
  | "refreshTurns"
  | "dropEmptyTurns"
  | "addToJobSite"
  | "totals"
  | "saveTotals";

export type TransactionSql = Record<Names, Statement>;

/** The rows that a transaction has loaded so far. */
export type LoadedRows = {
  tx: Transaction;
  jobs: Map<number, JobRow>;
  sites: Map<number, SiteRow>;
  lanes: Map<number, LaneRow>;
  counters: Map<string, SiteCounters>;
  /** Sites whose policy may have changed, for example because a lane was added or removed. */
  policyChanged: Set<number>;
  /** URLs that the transaction inserted into `seen`, or found there. */
  newlySeen: { scope: number; url: string }[];
};

type Deps = { db: Database; now: () => number; seen: SeenCache };

export function createRunTransaction({ db, now, seen }: Deps): RunTransaction {
  const sql = prepareAll<Names>(db, new URL("./sql/transaction.sql", import.meta.url));
  return (work) => {
    const { value, finished, newlySeen } = db.write(() => {
      const rows = openRows(sql, seen, now());
      const result = work(rows.tx);
      return { value: result, finished: saveRows(sql, rows), newlySeen: rows.newlySeen };
    });
    // After the commit, because the cache must contain only URLs that are in the file.
    for (const { scope, url } of newlySeen) seen.add(scope, url);
    return { value, finished };
  };
}

/** The row of a statement that always returns one. */
export function must(row: Row | undefined): Row {
  if (row === undefined) throw new Error("broker file: a statement that always returns a row returned none");
  return row;
}

function openRows(sql: TransactionSql, seen: SeenCache, now: number): LoadedRows {
  const rows: Omit<LoadedRows, "tx"> = {
    jobs: new Map(),
    sites: new Map(),
    lanes: new Map(),
    counters: new Map(),
    policyChanged: new Set(),
    newlySeen: [],
  };
  const { jobs, sites, lanes, counters, policyChanged, newlySeen } = rows;
  const tx: Transaction = {
    now,
    totals: sql.totals.get() as unknown as Totals,
    job: (n) => jobs.get(n) ?? keep(jobs, must(sql.job.get(n))),
    findJob(id) {
      const row = sql.jobById.get(id);
      return row === undefined ? undefined : keep(jobs, row);
    },
    site: (n) => sites.get(n) ?? keep(sites, must(sql.site.get(n))),
    siteNamed(site) {
      const { n } = sql.siteNumber.get(site) ?? must(sql.addSite.get(site));
      return tx.site(n as number);
    },
    lane: (n) => lanes.get(n) ?? keep(lanes, must(sql.lane.get(n))),
    laneFor(job, site, queue, priority) {
      const existing = sql.laneNumber.get(job.n, site.n, queue, priority);
      if (existing !== undefined) return tx.lane(existing.n as number);
      policyChanged.add(site.n);
      tx.countersAt(job, site); // adds the row, so that the site is listed among the job's sites
      return tx.lane(addLane(sql, job, site, queue, priority));
    },
    updatePolicy: (site) => void policyChanged.add(site.n),
    countersAt(job, { site }) {
      const name = onlineSite(site);
      const key = `${job.n} ${name}`;
      const existing = counters.get(key) ?? { job: job.n, site: name, ...ZERO_COUNTERS };
      counters.set(key, existing);
      return existing;
    },
    cacheSeen: (scope, url) => void newlySeen.push({ scope, url }),
    isCachedSeen: (scope, url) => seen.has(scope, url),
  };
  return { tx, ...rows };
}

const ZERO_COUNTERS = { done: 0, dead: 0, pages: 0, records: 0, invalid: 0, bytes: 0, lastPageAt: null };

/** Returns the row that this transaction has already loaded and may have changed, or else stores this one. */
function keep<R extends { n: number }>(loaded: Map<number, R>, row: Row): R {
  const existing = loaded.get(row.n as number);
  if (existing !== undefined) return existing;
  const fresh = row as unknown as R;
  loaded.set(fresh.n, fresh);
  return fresh;
}

function addLane(sql: TransactionSql, job: JobRow, site: SiteRow, queue: string, priority: number): number {
  const { intervalMs, burst, perSite } = policyFor(job, site.site);
  const rank = rankOf(job, priority);
  const robots = isOffline(site.site) ? 0 : job.robots;
  const row = sql.addLane.get(job.n, site.n, queue, priority, rank, intervalMs, burst, perSite, robots);
  return must(row).n as number;
}
