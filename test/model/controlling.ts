/** Control of jobs and dead letters in the model (F11, F12, F15). */
import { hasEnded, JOB_MOVES, type JobState } from "../../src/domain/job.ts";
import { onlineSite } from "../../src/domain/offline-site.ts";
import { TrawlError } from "../../src/errors.ts";
import { MAX_BATCH, type NewJob } from "../../src/frontier/frontier.ts";
import type { DeadFilter, DeadGroup, DeadLetter } from "../../src/frontier/frontier-admin.ts";
import { jobRunning } from "../../src/frontier/job-errors.ts";
import { addLane } from "./admitting.ts";
import { isWaiting, type ModelJob, type ModelTask, scopeOf, type World } from "./world.ts";

export function createJob(world: World, made: NewJob, now: number): void {
  if (world.jobs.some((job) => job.made.id === made.id)) return;
  const job: ModelJob = {
    made: structuredClone(made),
    state: "running",
    sealed: false,
    stopped: false,
    priority: made.priority,
    policy: made.policy,
    pageLimit: made.limits.pages,
    deadlineAt: made.limits.deadlineAt,
    createdAt: now,
    finishedAt: undefined,
    offers: { submitted: 0, discovered: 0, duplicate: 0, refused: 0 },
    tally: { pages: 0, records: 0, invalid: 0, bytes: 0 },
    siteTallies: new Map(),
  };
  world.jobs.push(job);
  if (!world.scopes.includes(scopeOf(job))) world.scopes.push(scopeOf(job));
}

/** Changes the state of a job. Does nothing if the job is already in that state. Only a replay reopens an ended job. */
export function move(job: ModelJob, to: JobState, op: string): void {
  if (job.state === to) return;
  const isAllowed = (JOB_MOVES[job.state] as readonly string[]).includes(to) && !hasEnded(job.state);
  if (!isAllowed) throw new TrawlError("JOB_ENDED", { op, message: `job ${job.made.id} is ${job.state}` });
  job.state = to;
}

/** Stops the job: no more of its tasks are granted. */
export function stop(world: World, job: ModelJob): void {
  job.stopped = true;
  job.sealed = true;
  for (const task of world.tasks) if (task.job === job && isWaiting(task)) task.state = "cancelled";
}

/** Jobs past their deadline that have not been stopped, longest overdue first. */
export function overdueJobs(world: World, now: number): ModelJob[] {
  return world.jobs
    .filter(
      (job) => (job.deadlineAt ?? Number.POSITIVE_INFINITY) <= now && !job.stopped && job.finishedAt === undefined,
    )
    .sort((one, other) => (one.deadlineAt ?? 0) - (other.deadlineAt ?? 0));
}

/** Removes a job, but not the sites and named sets of seen URLs that jobs share. */
export function forget(world: World, jobId: string): void {
  const job = world.jobs.find(({ made }) => made.id === jobId);
  if (job === undefined) return;
  if (job.finishedAt === undefined) throw jobRunning(jobId, job.state, "frontier.forgetJob");
  world.jobs = world.jobs.filter((other) => other !== job);
  for (const task of world.tasks) if (task.job === job) task.letter = undefined;
  if (job.made.dedup.scope !== "job") return;
  world.seen = world.seen.filter(({ scope }) => scope !== scopeOf(job));
  world.scopes = world.scopes.filter((scope) => scope !== scopeOf(job));
}

/** The tasks with a dead letter that matches the filter, oldest task first. */
export function deadTasks(world: World, filter: DeadFilter): ModelTask[] {
  const chosen =
    filter.taskIds === undefined ? undefined : [...new Set(filter.taskIds.map(Number))].slice(0, MAX_BATCH);
  return world.tasks.filter(
    ({ id, letter, job, site }) =>
      letter !== undefined &&
      (filter.jobId === undefined || job.made.id === filter.jobId) &&
      (filter.reason === undefined || letter.reason === filter.reason) &&
      (filter.site === undefined || onlineSite(site.name) === onlineSite(filter.site)) &&
      (filter.status === undefined || letter.status === filter.status) &&
      (chosen === undefined || chosen.includes(id)),
  );
}

export function letterOf({ id, job, made, letter, history }: ModelTask): DeadLetter {
  if (letter === undefined) throw new Error(`task ${id} is not dead`);
  return {
    taskId: String(id),
    jobId: job.made.id,
    url: made.url,
    site: onlineSite(made.site),
    reason: letter.reason,
    status: letter.status,
    diedAt: letter.diedAt,
    history: structuredClone(history),
  };
}

/** Returns the largest group first. The sample of a group is the first of its sorted URLs. */
export function groupLetters(letters: readonly DeadLetter[]): DeadGroup[] {
  const groups: DeadGroup[] = [];
  for (const { reason, site, status, url } of letters) {
    const group = groups.find((one) => one.reason === reason && one.site === site && one.status === status);
    if (group === undefined) groups.push({ reason, site, status, count: 1, sample: url });
    else {
      group.count += 1;
      if (url < group.sample) group.sample = url;
    }
  }
  const rank = ({ reason, site, status }: DeadGroup) => [reason, site, String(status ?? 0).padStart(3, "0")].join(" ");
  return groups.sort((one, other) => other.count - one.count || (rank(one) < rank(other) ? -1 : 1));
}

/** Whether dead letters of a job can be replayed: not if it is cancelled, or is being stopped and has not ended yet. */
export function canReplay({ state, stopped, finishedAt }: ModelJob): boolean {
  return state !== "cancelled" && (!stopped || finishedAt !== undefined);
}

export function revive(world: World, task: ModelTask, dueAt: number, now: number): void {
  const { job, made } = task;
  task.letter = undefined;
  task.state = dueAt <= now ? "queued" : "delayed";
  task.notBefore = dueAt <= now ? undefined : dueAt;
  task.failures = 0;
  task.crashes = 0;
  task.history = [];
  addLane(world, job, made.site, made.queue, made.priority);
  if (!hasEnded(job.state)) return;
  job.state = "running";
  job.finishedAt = undefined;
  job.stopped = false;
  job.deadlineAt = undefined;
}
