/** Ends leases in the model: settled (F7, F8, F14), released, expired or abandoned (F6). */
import { backoffMs, siteBackoffMs } from "../../src/domain/backoff.ts";
import { onlineSite } from "../../src/domain/offline-site.ts";
import type { DeadReason } from "../../src/domain/task.ts";
import { afterThrottled } from "../../src/domain/throttling.ts";
import {
  type Claim,
  MAX_CRASHES,
  type SettledState,
  type Settlement,
  type TaskOutcome,
} from "../../src/frontier/frontier.ts";
import { addLane, admit } from "./admitting.ts";
import { emptyTally, isWaiting, type ModelTask, queueOf, type World } from "./world.ts";

/** The task of a claim; undefined if the claim is stale. */
export function findClaimed(world: World, { taskId, token }: Claim): ModelTask | undefined {
  return world.tasks.find((task) => String(task.id) === taskId && task.token === token && task.state === "leased");
}

export function settleOne(world: World, settlement: Settlement, now: number): SettledState {
  const task = findClaimed(world, settlement);
  if (task === undefined) return "stale";
  endRobotsFetch(task);
  updateSiteBackoff(task, settlement.site, now);
  end(task, settlement.outcome, now);
  findLane(world, task);
  if (settlement.outcome.kind === "done") addResults(world, task, settlement, now);
  return task.state === "delayed" ? "retry" : (task.state as SettledState);
}

/**
 * Ends a lease without a result. The task is queued again, on a separate queue if it is a suspect. It becomes a dead
 * letter if it crashed too many workers, and is cancelled if its job has stopped.
 */
export function handBack(world: World, task: ModelTask, crashed: boolean, now: number): void {
  endRobotsFetch(task);
  const before = task.isAhead ? task.crashes : task.crashes - 1;
  task.crashes = crashed ? before + 1 : before;
  if (crashed && task.crashes >= MAX_CRASHES) {
    task.history.push({ at: now, because: "crashed_worker", detail: `held by ${task.worker}` });
    addDeadLetter(task, "crashed_worker", undefined, now);
    return;
  }
  if (task.job.stopped) task.state = "cancelled";
  else task.state = task.notBefore === undefined ? "queued" : "delayed";
  findLane(world, task);
}

/** Creates the lane of a waiting task, which may differ from the lane before its lease. */
function findLane(world: World, task: ModelTask): void {
  if (isWaiting(task)) addLane(world, task.job, task.site.name, queueOf(task), task.made.priority);
}

/**
 * If the task had to fetch robots.txt, it no longer does. If robots.txt is still missing, the next grant of the site
 * must fetch it.
 */
function endRobotsFetch(task: ModelTask): void {
  if (task.site.robotsFetcher === task) task.site.robotsFetcher = undefined;
}

/**
 * Starts, extends or ends the backoff of a site. During a backoff, responses to earlier requests are not new incidents
 * and do not end it.
 */
function updateSiteBackoff({ site, failures }: ModelTask, signal: Settlement["site"], now: number): void {
  const isBlocked = site.blockedUntil > now;
  if (signal.kind === "ok") {
    site.throttling = { ...site.throttling, isGood: true };
    if (!isBlocked) site.incidents = 0;
  }
  if (signal.kind !== "throttled") return;
  if (signal.cause !== "robots") {
    const { pauses, ...throttling } = afterThrottled(site.throttling, failures > 0);
    site.throttling = throttling;
    if (!pauses) return;
  }
  if (!isBlocked) site.incidents += 1;
  const until = now + (signal.retryAfterMs ?? siteBackoffMs(site.incidents));
  if (until <= site.blockedUntil) return;
  site.blockedUntil = until;
  site.backoffCause = signal.cause;
}

function end(task: ModelTask, outcome: TaskOutcome, now: number): void {
  task.crashes = 0;
  switch (outcome.kind) {
    case "done":
    case "refused":
      task.state = outcome.kind;
      return;
    case "dead":
      addToHistory(task, outcome, now);
      addDeadLetter(task, outcome.because, outcome.status, now);
      return;
    case "retry":
      addToHistory(task, outcome, now);
      retry(task, outcome, now);
  }
}

function retry(task: ModelTask, outcome: TaskOutcome & { kind: "retry" }, now: number): void {
  const { retries } = task.job.made;
  task.failures += 1;
  if (task.failures > retries.max) addDeadLetter(task, "retries_spent", outcome.status, now);
  else if (task.job.stopped) task.state = "cancelled";
  else {
    task.state = "delayed";
    task.notBefore = now + Math.max(backoffMs(retries.backoffMs, task.failures, task.id), outcome.retryAfterMs ?? 0);
  }
}

function addToHistory(task: ModelTask, last: { because: string; status?: number; detail?: string }, at: number): void {
  const { because, status, detail } = last;
  task.history.push({
    at,
    because,
    ...(status === undefined ? {} : { status }),
    ...(detail === undefined ? {} : { detail }),
  });
}

function addDeadLetter(task: ModelTask, reason: DeadReason, status: number | undefined, now: number): void {
  task.state = "dead";
  task.letter = { reason, status, diedAt: now };
}

function addResults(
  world: World,
  { job, site }: ModelTask,
  { discovered, refusedLinks, tally }: Settlement,
  now: number,
): void {
  admit(world, job, discovered, "discovered", now);
  job.offers.discovered += refusedLinks;
  job.offers.refused += refusedLinks;
  const own = job.siteTallies.get(onlineSite(site.name)) ?? { tally: emptyTally(), lastPageAt: undefined };
  job.siteTallies.set(onlineSite(site.name), own);
  if (tally.pages > 0) own.lastPageAt = now;
  for (const name of ["pages", "records", "invalid", "bytes"] as const) {
    job.tally[name] += tally[name];
    own.tally[name] += tally[name];
  }
}
