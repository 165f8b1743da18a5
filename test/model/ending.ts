/** How leases end in the model: settled (F7, F8, F14), handed back, expired or abandoned (F6). */
import { backoffMs, siteRestMs } from "../../src/domain/backoff.ts";
import { onlineSite } from "../../src/domain/offline-site.ts";
import type { DeadReason } from "../../src/domain/task.ts";
import { type Claim, CRASHES_MOST, type Settlement, type TaskOutcome } from "../../src/frontier/frontier.ts";
import { addLane, admit } from "./admitting.ts";
import { emptyTally, isWaiting, type ModelSite, type ModelTask, queueOf, type World } from "./world.ts";

/** The task a claim is good for, if it still is. */
export function findClaimed(world: World, { taskId, token }: Claim): ModelTask | undefined {
  return world.tasks.find((task) => String(task.id) === taskId && task.token === token && task.state === "leased");
}

export function settleOne(world: World, settlement: Settlement, now: number): "settled" | "stale" {
  const task = findClaimed(world, settlement);
  if (task === undefined) return "stale";
  stopAsking(task);
  hearSite(task.site, settlement.site, now);
  end(task, settlement.outcome, now);
  findLane(world, task);
  if (settlement.outcome.kind === "done") bringIn(world, task, settlement, now);
  return "settled";
}

/** Back to where it was, or among the suspects, unless it has taken down too many workers or its job is over. */
export function handBack(world: World, task: ModelTask, crashed: boolean, now: number): void {
  stopAsking(task);
  if (crashed && task.crashes >= CRASHES_MOST) {
    task.history.push({ at: now, because: "crashed_worker", detail: `held by ${task.worker}` });
    bury(task, "crashed_worker", undefined, now);
    return;
  }
  // An untouched task has not crashed anybody: the count is as before it was granted.
  if (!crashed) task.crashes -= 1;
  if (task.job.stopped) task.state = "cancelled";
  else task.state = task.notBefore === undefined ? "queued" : "delayed";
  findLane(world, task);
}

/** It may have to wait elsewhere than where it came from. */
function findLane(world: World, task: ModelTask): void {
  if (isWaiting(task)) addLane(world, task.job, task.site.name, queueOf(task), task.made.priority);
}

/** Whoever was to bring robots.txt has ended; if it did not, another is asked. */
function stopAsking(task: ModelTask): void {
  if (task.site.asker === task) task.site.asker = undefined;
}

/** Answers of requests sent before a rest began are the same incident, not a new one, and do not end it. */
function hearSite(site: ModelSite, heard: Settlement["site"], now: number): void {
  const isResting = site.blockedUntil > now;
  if (heard.kind === "ok" && !isResting) site.incidents = 0;
  if (heard.kind !== "throttled") return;
  if (!isResting) site.incidents += 1;
  site.blockedUntil = Math.max(site.blockedUntil, now + (heard.retryAfterMs ?? siteRestMs(site.incidents)));
}

function end(task: ModelTask, outcome: TaskOutcome, now: number): void {
  task.crashes = 0;
  switch (outcome.kind) {
    case "done":
    case "refused":
      task.state = outcome.kind;
      return;
    case "dead":
      remember(task, outcome, now);
      bury(task, outcome.because, outcome.status, now);
      return;
    case "retry":
      remember(task, outcome, now);
      retry(task, outcome, now);
  }
}

function retry(task: ModelTask, outcome: TaskOutcome & { kind: "retry" }, now: number): void {
  const { retries } = task.job.made;
  task.failures += 1;
  if (task.failures > retries.max) bury(task, "retries_spent", outcome.status, now);
  else if (task.job.stopped) task.state = "cancelled";
  else {
    task.state = "delayed";
    task.notBefore = now + Math.max(backoffMs(retries.backoffMs, task.failures, task.id), outcome.retryAfterMs ?? 0);
  }
}

function remember(task: ModelTask, last: { because: string; status?: number; detail?: string }, at: number): void {
  const { because, status, detail } = last;
  task.history.push({
    at,
    because,
    ...(status === undefined ? {} : { status }),
    ...(detail === undefined ? {} : { detail }),
  });
}

function bury(task: ModelTask, reason: DeadReason, status: number | undefined, now: number): void {
  task.state = "dead";
  task.letter = { reason, status, diedAt: now };
}

function bringIn(
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
