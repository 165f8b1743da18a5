/**
 * Ends a transaction: writes each loaded row back once, and updates the rows that depend on it (see transaction.ts).
 */
import { strictest } from "../../domain/politeness.ts";
import type { SqlValue } from "../../runtime/sqlite.ts";
import { rescaleArrival } from "../rescale-arrival.ts";
import { hasJustFinished, maySend, siteReadyAt } from "./readiness.ts";
import { type JobRow, type LaneRow, NEVER, policyOf, type SiteRow, setPolicy } from "./rows.ts";
import { type LoadedRows, must, type TransactionSql } from "./transaction.ts";

/** Saves lanes first, because sites depend on them, and jobs last. Returns the ids of jobs that have just finished. */
export function saveRows(sql: TransactionSql, rows: LoadedRows): string[] {
  saveLanes(sql, rows);
  saveSites(sql, rows);
  for (const { job, site, done, dead, pages, records, invalid, bytes, lastPageAt } of rows.counters.values()) {
    sql.addToJobSite.run(job, site, done, dead, pages, records, invalid, bytes, lastPageAt);
  }
  const finished = saveJobs(sql, rows);
  const { next_task, next_served, pending } = rows.tx.totals;
  sql.saveTotals.run(next_task, next_served, pending);
  return finished;
}

function saveLanes(sql: TransactionSql, { tx, lanes, policyChanged }: LoadedRows): void {
  for (const lane of lanes.values()) {
    tx.site(lane.site); // loads the site, so that saveSites recomputes its turns
    if (lane.queued + lane.delayed + lane.leased === 0) {
      sql.dropLane.run(lane.n);
      policyChanged.add(lane.site);
      continue;
    }
    lane.wake_at = wakeAt(sql, tx.job(lane.job), lane, tx.now);
    sql.saveLane.run(...laneValues(lane), lane.n);
  }
}

function wakeAt(sql: TransactionSql, job: JobRow, lane: LaneRow, now: number): number {
  if (!maySend(job, now)) return NEVER;
  if (lane.queued > 0) return 0;
  if (lane.delayed === 0) return NEVER;
  return must(sql.firstRetryAt.get(lane.n)).at as number;
}

function saveSites(sql: TransactionSql, { tx, sites, policyChanged }: LoadedRows): void {
  for (const n of policyChanged) {
    const site = tx.site(n);
    const before = policyOf(site);
    updatePolicy(sql, site);
    site.arrival_at = rescaleArrival(site.arrival_at, tx.now, before, policyOf(site));
  }
  for (const site of sites.values()) {
    sql.saveSite.run(...siteValues(site), site.n);
    sql.refreshTurns.run(siteReadyAt(site, tx.now), tx.now, site.n, site.interval_ms > 0 ? 1 : 0);
    if (policyChanged.has(site.n)) sql.dropEmptyTurns.run(site.n);
  }
}

function updatePolicy(sql: TransactionSql, site: SiteRow): void {
  const row = sql.strictest.get(site.n) as unknown as SiteRow & { robots: number | null };
  if (row.robots !== null) site.wants_robots = row.robots;
  if (row.interval_ms !== null) {
    const delay = row.robots === 1 ? site.crawl_delay_ms : 0;
    // A crawl-delay separates any two requests, so it allows no burst.
    const burst = delay > 0 ? 1 : row.burst;
    setPolicy(site, strictest([policyOf(row), { intervalMs: delay, burst, perSite: row.per_site }]));
  }
  // The operator's policy overrides both.
  site.interval_ms = site.operator_interval_ms ?? site.interval_ms;
  site.burst = site.operator_burst ?? site.burst;
  site.per_site = site.operator_per_site ?? site.per_site;
}

function saveJobs(sql: TransactionSql, { tx, jobs }: LoadedRows): string[] {
  const finished: string[] = [];
  for (const job of jobs.values()) {
    if (hasJustFinished(job)) {
      job.finished_at = tx.now;
      if (job.state === "running") job.state = job.pages === 0 && job.dead + job.refused > 0 ? "failed" : "finished";
      finished.push(job.id);
    }
    sql.saveJob.run(...jobValues(job), job.n);
  }
  return finished;
}

function laneValues(lane: LaneRow): SqlValue[] {
  return [
    lane.rank,
    lane.interval_ms,
    lane.burst,
    lane.per_site,
    lane.queued,
    lane.delayed,
    lane.leased,
    lane.wake_at,
    lane.served,
  ];
}

function siteValues(site: SiteRow): SqlValue[] {
  return [
    site.arrival_at,
    site.in_flight,
    site.blocked_until,
    site.backoff_cause,
    site.incidents,
    site.interval_ms,
    site.burst,
    site.per_site,
    site.wants_robots,
    site.operator_interval_ms,
    site.operator_burst,
    site.operator_per_site,
    site.crawl_delay_ms,
    site.robots_fresh_until,
    site.robots_asker,
    site.term,
    site.term_worker,
    site.term_ends_at,
    site.slowdown,
    site.slowdown_cause,
    site.isolated,
    site.is_good,
  ];
}

function jobValues(job: JobRow): SqlValue[] {
  return [
    job.state,
    job.sealed,
    job.stopped,
    job.priority,
    job.interval_ms,
    job.burst,
    job.per_site,
    job.page_limit,
    job.admitted,
    job.finished_at,
    job.deadline_at,
    job.synced_lane,
    job.submitted,
    job.discovered,
    job.queued,
    job.delayed,
    job.leased,
    job.done,
    job.dead,
    job.cancelled,
    job.duplicate,
    job.refused,
    job.pages,
    job.records,
    job.invalid,
    job.bytes,
  ];
}
