/** Writes back what a step has changed, once a row, and works out what follows from it (see step.ts). */
import { strictest } from "../../domain/politeness.ts";
import type { SqlValue } from "../../runtime/sqlite.ts";
import { reprice } from "../reprice.ts";
import { type JobRow, type LaneRow, NEVER, policyOf, type SiteRow, setPolicy } from "./rows.ts";
import { hasJustFinished, maySend, siteReadyAt } from "./schedule.ts";
import { must, type Rows, type StepSql } from "./step.ts";

/** Lanes first, since sites follow from them; jobs last. The answer is the jobs that this finished. */
export function saveRows(sql: StepSql, rows: Rows): string[] {
  saveLanes(sql, rows);
  saveSites(sql, rows);
  for (const { job, site, done, dead, pages, records, invalid, bytes, lastPageAt } of rows.gains.values()) {
    sql.addToJobSite.run(job, site, done, dead, pages, records, invalid, bytes, lastPageAt);
  }
  const finished = saveJobs(sql, rows);
  const { next_task, next_served, pending } = rows.step.totals;
  sql.saveTotals.run(next_task, next_served, pending);
  return finished;
}

function saveLanes(sql: StepSql, { step, lanes, repoliced }: Rows): void {
  for (const lane of lanes.values()) {
    step.site(lane.site); // its turns have to be worked out anew
    if (lane.queued + lane.delayed + lane.leased === 0) {
      sql.dropLane.run(lane.n);
      repoliced.add(lane.site);
      continue;
    }
    lane.wake_at = wakeAt(sql, step.job(lane.job), lane, step.now);
    sql.saveLane.run(...laneValues(lane), lane.n);
  }
}

function wakeAt(sql: StepSql, job: JobRow, lane: LaneRow, now: number): number {
  if (!maySend(job, now)) return NEVER;
  if (lane.queued > 0) return 0;
  if (lane.delayed === 0) return NEVER;
  return must(sql.firstRetryAt.get(lane.n)).at as number;
}

function saveSites(sql: StepSql, { step, sites, repoliced }: Rows): void {
  for (const n of repoliced) {
    const site = step.site(n);
    const before = policyOf(site);
    repolice(sql, site);
    site.arrival_at = reprice(site.arrival_at, step.now, before, policyOf(site));
  }
  for (const site of sites.values()) {
    sql.saveSite.run(...siteValues(site), site.n);
    sql.refreshTurns.run(siteReadyAt(site, step.now), step.now, site.n);
    if (repoliced.has(site.n)) sql.dropEmptyTurns.run(site.n);
  }
}

function repolice(sql: StepSql, site: SiteRow): void {
  const row = sql.strictest.get(site.n) as unknown as SiteRow & { robots: number | null };
  if (row.robots !== null) site.wants_robots = row.robots;
  if (row.interval_ms !== null) {
    const delay = row.robots === 1 ? site.crawl_delay_ms : 0;
    // A crawl-delay stands between any two requests: it knows no bursts.
    const burst = delay > 0 ? 1 : row.burst;
    setPolicy(site, strictest([policyOf(row), { intervalMs: delay, burst, perSite: row.per_site }]));
  }
  // The operator's word beats both.
  site.interval_ms = site.operator_interval_ms ?? site.interval_ms;
  site.burst = site.operator_burst ?? site.burst;
  site.per_site = site.operator_per_site ?? site.per_site;
}

function saveJobs(sql: StepSql, { step, jobs }: Rows): string[] {
  const finished: string[] = [];
  for (const job of jobs.values()) {
    if (hasJustFinished(job)) {
      job.finished_at = step.now;
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
