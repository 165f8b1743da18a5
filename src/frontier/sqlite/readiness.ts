/** Computes from the rows alone when a job or a site may send requests, and whether a job has finished. */
import { concurrencyOf, readyAt } from "../../domain/politeness.ts";
import { type JobRow, NEVER, policyOf, type SiteRow } from "./rows.ts";

/** Whether tasks of a job may be granted at all. */
export function maySend(job: JobRow, now: number): boolean {
  return job.state === "running" && job.stopped === 0 && (job.deadline_at === null || job.deadline_at > now);
}

/** The effective priority: the priority at enqueue, shifted by the change of the job's own priority since then. */
export function rankOf(job: JobRow, priority: number): number {
  return Math.max(0, Math.min(9, priority + job.priority - job.base_priority));
}

/** The earliest time at which the site's own limits allow the next request. */
export function siteReadyAt(site: SiteRow, now: number): number {
  if (site.in_flight >= concurrencyOf(site.per_site, site.incidents)) return NEVER;
  if (isFetchingRobots(site, now)) return NEVER;
  return Math.max(readyAt(site.arrival_at, policyOf(site)), site.blocked_until);
}

/**
 * Whether a task is fetching the site's robots.txt; the site's other tasks wait for it. This ends at the latest when
 * that task's lease ends.
 */
export function isFetchingRobots(site: SiteRow, now: number): boolean {
  return site.robots_asker !== null && site.wants_robots === 1 && site.robots_fresh_until <= now;
}

/**
 * Whether a job has just finished: it is sealed, and nothing of it is queued, delayed or leased. A stopped job finishes
 * only after its lanes are emptied (`synced_lane` is null), because a replay would otherwise find the old tasks there.
 */
export function hasJustFinished(job: JobRow): boolean {
  const isEmpty = job.queued + job.delayed + job.leased === 0 && job.sealed === 1 && job.synced_lane === null;
  return isEmpty && job.finished_at === null && (job.state === "running" || job.state === "cancelled");
}
