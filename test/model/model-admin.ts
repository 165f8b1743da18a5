/** Inspection and control, on the model. */
import { hasEnded } from "../../src/domain/job.ts";
import { onlineSite } from "../../src/domain/offline-site.ts";
import type { TaskState } from "../../src/domain/task.ts";
import type {
  Finding,
  FrontierAdmin,
  JobSiteView,
  JobView,
  QueueView,
  WorkerView,
} from "../../src/frontier/frontier-admin.ts";
import { tooLateForLimits } from "../../src/frontier/job-errors.ts";
import {
  canReplay,
  deadTasks,
  forget,
  groupLetters,
  letterOf,
  move,
  overdueJobs,
  revive,
  stop,
} from "./controlling.ts";
import { explain } from "./explaining.ts";
import type { ModelParts } from "./model-frontier.ts";
import { findSiteDetail, sitesByName } from "./site-views.ts";
import { emptyTally, getJob, isWaiting, ledgerOf, type ModelJob, siteNamed, type World } from "./world.ts";

type Control = Pick<
  FrontierAdmin,
  "pause" | "resume" | "cancel" | "setPriority" | "setPolicy" | "setLimits" | "setSitePolicy"
>;
type DeadLetters = Pick<FrontierAdmin, "listDead" | "groupDead" | "countDead" | "replayDead" | "discardDead">;

export function createModelAdmin(parts: ModelParts): FrontierAdmin {
  const { world, clock } = parts;
  return {
    findJob: async (jobId) => world.jobs.filter(({ made }) => made.id === jobId).map((job) => viewOf(world, job))[0],
    findJobs: async (jobIds) =>
      jobIds.flatMap((jobId) => world.jobs.filter(({ made }) => made.id === jobId).map((job) => viewOf(world, job))),
    listJobs: async (limit, before) =>
      jobsBefore(world, before)
        .slice(0, limit)
        .map((job) => viewOf(world, job)),
    listOpen: async (limit, before) =>
      jobsBefore(world, before)
        .filter(({ finishedAt }) => finishedAt === undefined)
        .slice(0, limit)
        .map((job) => viewOf(world, job)),
    listEnded: async (before, limit) =>
      world.jobs
        .filter(({ finishedAt = Infinity }) => finishedAt < before)
        .sort((one, other) => (one.finishedAt ?? 0) - (other.finishedAt ?? 0))
        .slice(0, limit)
        .map((job) => viewOf(world, job)),
    forgetJob: async (jobId) => {
      parts.step(() => forget(world, jobId));
      return "gone";
    },
    ...createControl(parts),
    listSites: async (limit, after = "", part = "") =>
      sitesByName(world, part, clock.now())
        .filter(({ site }) => site > after)
        .slice(0, limit),
    listBusySites: async (limit, part = "") =>
      sitesByName(world, part, clock.now())
        .filter(({ waiting }) => waiting > 0)
        .sort((one, other) => other.waiting - one.waiting)
        .slice(0, limit),
    findSite: async (name) => findSiteDetail(world, name, clock.now()),
    listJobSites: async (jobId, limit, after = "") =>
      jobSitesOf(world, jobId)
        .filter(({ site }) => site > after)
        .slice(0, limit),
    ...createDeadLetters(parts),
    explain: async (target, visibility) => explain(world, target, clock.now(), visibility),
    listHolders: async () => {
      const workers = world.tasks.filter(({ state }) => state === "leased").map(({ worker }) => worker);
      return [...new Set(workers)]
        .sort()
        .map((worker) => ({ worker, leases: workers.filter((name) => name === worker).length }));
    },
    listWorkers: async () => workersOf(world, clock.now()),
    commandWorker: async (worker, command) => {
      const announced = world.announcements.filter((one) => one.presence.worker === worker && one.until > clock.now());
      for (const one of announced) one.command = command;
      return announced.length > 0;
    },
    listQueues: async () => queuesOf(world),
    examine: async (): Promise<Finding[]> => [{ check: "model", verdict: "ok", message: "the model is in memory" }],
  };
}

/** The jobs that were created before `before`, newest first. */
function jobsBefore(world: World, before: { createdAt: number } | undefined): ModelJob[] {
  return world.jobs.filter(({ createdAt }) => before === undefined || createdAt < before.createdAt).toReversed();
}

function workersOf(world: World, now: number): WorkerView[] {
  return world.announcements
    .filter(({ until }) => until > now)
    .map(({ presence, seenAt, command }) => ({
      ...structuredClone(presence),
      seenAt,
      ...(command === undefined ? {} : { command }),
    }))
    .sort((one, other) => (one.worker < other.worker ? -1 : 1));
}

function queuesOf(world: World): QueueView[] {
  const queues = world.tasks.filter(isWaiting).map(({ made }) => made.queue);
  return [...new Set(queues)]
    .sort()
    .map((queue) => ({ queue, waiting: queues.filter((name) => name === queue).length }));
}

function createControl({ world, clock, step }: ModelParts): Control {
  /** Changes a job; like the backends, it then ends jobs past their deadline, one at a time. */
  async function change(jobId: string, op: string, work: (job: ModelJob) => void): Promise<JobView> {
    const job = getJob(world, jobId, op);
    step((now) => {
      work(job);
      if (overdueJobs(world, now)[0] === job) stop(world, job);
    });
    for (const overdue of overdueJobs(world, clock.now())) step(() => stop(world, overdue));
    return viewOf(world, job);
  }

  return {
    pause: (jobId) => change(jobId, "frontier.pause", (job) => move(job, "paused", "frontier.pause")),
    resume: (jobId) => change(jobId, "frontier.resume", (job) => move(job, "running", "frontier.resume")),
    cancel: (jobId) =>
      change(jobId, "frontier.cancel", (job) => {
        move(job, "cancelled", "frontier.cancel");
        stop(world, job);
      }),
    setPriority: (jobId, priority) =>
      change(jobId, "frontier.setPriority", (job) => {
        job.priority = priority;
      }),
    setPolicy: (jobId, policy) =>
      change(jobId, "frontier.setPolicy", (job) => {
        job.policy = policy;
      }),
    setLimits: (jobId, { pages, deadlineAt }) =>
      change(jobId, "frontier.setLimits", (job) => {
        if (job.stopped || hasEnded(job.state)) throw tooLateForLimits(jobId, job.state);
        if (pages !== undefined) job.pageLimit = pages ?? undefined;
        if (deadlineAt !== undefined) job.deadlineAt = deadlineAt ?? undefined;
      }),
    setSitePolicy: async (site, policy) => {
      step(() => {
        siteNamed(world, site).operator = policy;
      });
    },
  };
}

function createDeadLetters({ world, step }: ModelParts): DeadLetters {
  return {
    listDead: async (filter, limit, after = "0") =>
      deadTasks(world, filter)
        .filter(({ id }) => id > Number(after))
        .slice(0, limit)
        .map(letterOf),
    countDead: async () => deadTasks(world, {}).length,
    groupDead: async (filter, limit) => {
      const letters = deadTasks(world, filter).map(letterOf);
      return { groups: groupLetters(letters).slice(0, limit), letters: letters.length };
    },
    replayDead: async (filter, limit, perSecond) =>
      step((now) => {
        const taken = deadTasks(world, filter)
          .filter(({ job }) => canReplay(job))
          .slice(0, limit);
        taken.forEach((task, nth) => {
          revive(world, task, now + Math.floor(nth / perSecond) * 1000, now);
        });
        return { replayed: taken.length, jobIds: [...new Set(taken.map(({ job }) => job.made.id))].sort() };
      }).value,
    discardDead: async (filter, limit) =>
      step(() => {
        const discarded = deadTasks(world, filter).slice(0, limit);
        for (const task of discarded) task.letter = undefined;
        return discarded.length;
      }).value,
  };
}

function viewOf(world: World, job: ModelJob): JobView {
  const { id, name, queue, spec } = job.made;
  const { state, sealed, priority, policy, createdAt, finishedAt, pageLimit, deadlineAt } = job;
  const [counts, tally] = [ledgerOf(world, job), { ...job.tally }];
  const limits = { pages: pageLimit, deadlineAt };
  return { id, name, state, sealed, queue, priority, policy, limits, createdAt, finishedAt, counts, tally, spec };
}

function jobSitesOf(world: World, jobId: string): JobSiteView[] {
  const known = world.jobs.find(({ made }) => made.id === jobId);
  const tasks = world.tasks.filter(({ job }) => job === known);
  const names = new Set(tasks.map(({ site }) => onlineSite(site.name)));
  return [...names].sort().map((name) => {
    const own = tasks.filter(({ site }) => onlineSite(site.name) === name);
    const count = (...states: TaskState[]) => own.filter(({ state }) => states.includes(state)).length;
    const had = own[0]?.job.siteTallies.get(name);
    return {
      site: name,
      waiting: count("queued", "delayed"),
      inFlight: count("leased"),
      done: count("done"),
      dead: count("dead"),
      tally: { ...(had?.tally ?? emptyTally()) },
      lastPageAt: had?.lastPageAt,
      blockedUntil: world.sites.find((site) => site.name === name)?.blockedUntil ?? 0,
      backoffCause: world.sites.find((site) => site.name === name)?.backoffCause,
    };
  });
}
