/** When tasks may be granted, computed from the lists each time (F2, F5), and the invariants after every operation. */

import { isOffline } from "../../src/domain/offline-site.ts";
import { concurrencyOf, readyAt, type SitePolicy, strictest, UNLIMITED } from "../../src/domain/politeness.ts";
import { rescaleArrival } from "../../src/frontier/rescale-arrival.ts";
import {
  inFlightOf,
  isLive,
  type Lane,
  ledgerOf,
  type ModelJob,
  type ModelSite,
  type ModelTask,
  queueOf,
  type Turn,
  type World,
} from "./world.ts";

export const NEVER = Number.POSITIVE_INFINITY;

/** Whether tasks of a job may be granted at all. */
export function maySend({ state, stopped, deadlineAt }: ModelJob, now: number): boolean {
  return state === "running" && !stopped && (deadlineAt === undefined || deadlineAt > now);
}

/** The effective priority: the priority at enqueue, shifted by the change of the job's own priority since then. */
export function rankOf({ job, priority }: Lane): number {
  return Math.max(0, Math.min(9, priority + job.priority - job.made.priority));
}

export function tasksOf(world: World, lane: Lane): ModelTask[] {
  return world.tasks.filter(
    (task) =>
      task.job === lane.job &&
      task.site === lane.site &&
      queueOf(task) === lane.queue &&
      task.made.priority === lane.priority,
  );
}

export function lanesOf(world: World, turn: Turn): Lane[] {
  return world.lanes.filter(
    (lane) => lane.site === turn.site && lane.queue === turn.queue && rankOf(lane) === turn.rank,
  );
}

/** When the first task of a lane may be granted, without regard to the limits of its site. */
export function wakeAt(world: World, lane: Lane, now: number): number {
  if (!maySend(lane.job, now)) return NEVER;
  const tasks = tasksOf(world, lane);
  if (tasks.some(({ state }) => state === "queued")) return 0;
  const retries = tasks.filter(({ state }) => state === "delayed");
  return Math.min(NEVER, ...retries.map(({ notBefore }) => notBefore ?? 0));
}

export function wantsRobots(world: World, site: ModelSite): boolean {
  return !isOffline(site.name) && world.lanes.some((lane) => lane.site === site && lane.job.made.robots);
}

/** Whether the next grant must fetch robots.txt. */
export function needsRobots(world: World, site: ModelSite, now: number): boolean {
  return wantsRobots(world, site) && (site.robots === undefined || site.robots.freshUntil <= now);
}

/** The earliest time at which the site's own limits allow the next request. */
export function siteReadyAt(world: World, site: ModelSite, now: number): number {
  if (inFlightOf(world, site) >= concurrencyOf(site.policy.perSite, site.incidents)) return NEVER;
  if (site.robotsFetcher !== undefined && needsRobots(world, site, now)) return NEVER;
  return Math.max(readyAt(site.arrivalAt, site.policy), site.blockedUntil);
}

export function dueAt(world: World, turn: Turn, now: number): number {
  const wake = Math.min(NEVER, ...lanesOf(world, turn).map((lane) => wakeAt(world, lane, now)));
  return Math.max(wake, siteReadyAt(world, turn.site, now), turn.servedAt);
}

export function nextDueAt(world: World, queues: readonly string[], now: number): number | undefined {
  const turns = world.turns.filter(({ queue }) => queues.includes(queue));
  const first = Math.min(NEVER, ...turns.map((turn) => dueAt(world, turn, now)));
  return first === NEVER ? undefined : first;
}

/** The policy that the job sets for the site. */
export function policyFor(job: ModelJob, site: ModelSite): SitePolicy {
  if (isOffline(site.name)) return UNLIMITED;
  return job.made.sites[site.name] ?? job.policy;
}

/**
 * The operator's policy, if there is one. Otherwise the strictest policy of the site's jobs that are not paused, with
 * the crawl-delay. If the site has no such job, its last policy.
 */
function effectivePolicy(world: World, site: ModelSite): SitePolicy {
  if (site.operator !== undefined) return site.operator;
  const active = world.lanes.filter((lane) => lane.site === site && lane.job.state !== "paused");
  const policies = active.map(({ job }) => policyFor(job, site));
  if (policies.length === 0) return site.policy;
  const policy = strictest(policies);
  if (!wantsRobots(world, site) || site.crawlDelayMs === 0) return policy;
  // A crawl-delay separates any two requests, so it allows no burst.
  return { ...policy, intervalMs: Math.max(policy.intervalMs, site.crawlDelayMs), burst: 1 };
}

/** Restores the invariants after an operation: lanes, turns and policies follow the tasks, and empty jobs end. */
export function endStep(world: World, now: number): string[] {
  world.lanes = world.lanes.filter((lane) => tasksOf(world, lane).some(isLive));
  for (const site of world.sites) {
    const policy = effectivePolicy(world, site);
    site.arrivalAt = rescaleArrival(site.arrivalAt, now, site.policy, policy);
    site.policy = policy;
  }
  world.turns = world.turns.filter((turn) => lanesOf(world, turn).length > 0);
  for (const lane of world.lanes) {
    const { site, queue } = lane;
    const rank = rankOf(lane);
    const isKnown = world.turns.some((turn) => turn.site === site && turn.queue === queue && turn.rank === rank);
    if (!isKnown) world.turns.push({ site, queue, rank, servedAt: now, served: 0 });
  }
  return world.jobs.filter((job) => finishIfOver(world, job, now)).map(({ made }) => made.id);
}

function finishIfOver(world: World, job: ModelJob, now: number): boolean {
  const isAble = job.state === "running" || job.state === "cancelled";
  if (!isAble || !job.sealed || job.finishedAt !== undefined) return false;
  const counts = ledgerOf(world, job);
  if (counts.queued + counts.delayed + counts.leased > 0) return false;
  job.finishedAt = now;
  if (job.state === "running")
    job.state = job.tally.pages === 0 && counts.dead + counts.refused > 0 ? "failed" : "finished";
  return true;
}
