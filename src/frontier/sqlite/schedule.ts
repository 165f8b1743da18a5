/** When things may go, worked out from the rows alone. */
import { readyAt } from "../../domain/politeness.ts";
import { type JobRow, NEVER, policyOf, type SiteRow } from "./rows.ts";

/** Whether tasks of a job may be granted at all. */
export function maySend(job: JobRow, now: number): boolean {
  return job.state === "running" && job.stopped === 0 && (job.deadline_at === null || job.deadline_at > now);
}

/** Priority in force: as enqueued, moved as far as the job's own priority has been moved. */
export function rankOf(job: JobRow, priority: number): number {
  return Math.max(0, Math.min(9, priority + job.priority - job.base_priority));
}

/** From when on a site may be hit, as far as the site itself goes. */
export function siteReadyAt(site: SiteRow, now: number): number {
  if (site.in_flight >= site.per_site) return NEVER;
  if (isAskingRobots(site, now)) return NEVER;
  return Math.max(readyAt(site.arrival_at, policyOf(site)), site.blocked_until);
}

/** Whether somebody is fetching the robots.txt that all others wait for. Its lease ends sooner or later, and that with it. */
export function isAskingRobots(site: SiteRow, now: number): boolean {
  return site.robots_asker !== null && site.wants_robots === 1 && site.robots_fresh_until <= now;
}

/**
 * Whether a job has just come to its end: all its URLs are in, and nothing of it waits or is leased. What a stopped job
 * leaves in its lanes goes first: a replay would find it there.
 */
export function hasJustFinished(job: JobRow): boolean {
  const isOver = job.queued + job.delayed + job.leased === 0 && job.sealed === 1 && job.synced_lane === null;
  return isOver && job.finished_at === null && (job.state === "running" || job.state === "cancelled");
}
