/** Opens a broker file as a frontier: for any number of processes on one machine at a time. */
import { setImmediate } from "node:timers/promises";
import type { NewTask } from "../../domain/task.ts";
import { TrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type Database, openDatabase } from "../../runtime/sqlite.ts";
import { type NamedFile, withFileErrors } from "../../runtime/sqlite-failure.ts";
import { migrate } from "../../runtime/sqlite-schema.ts";
import { BATCH_MOST, type EnqueueAnswer, type Frontier } from "../frontier.ts";
import type { FrontierAdmin } from "../frontier-admin.ts";
import { createSeenCache } from "../seen-cache.ts";
import { createWakeups } from "../wakeups.ts";
import { type Admit, createAdmit } from "./admit.ts";
import { createDeadLetters } from "./dead.ts";
import { createInspector } from "./explain.ts";
import { createFleet } from "./fleet.ts";
import { createForgetting } from "./forgetting.ts";
import { createJobs, getJob } from "./jobs.ts";
import { createLease } from "./lease.ts";
import { createScriptedSites } from "./scripted-sites.ts";
import { createLeases } from "./settle.ts";
import { createSites } from "./sites.ts";
import { createStepper, type Stepper } from "./step.ts";

export type SqliteFrontierOptions = {
  /** URLs waiting in the whole broker past which `enqueue` takes no more (F13). */
  maxPending: number;
  /** How long a writer waits for another process. */
  busyMs: number;
  /** How often a waiting worker looks for what another process has queued. */
  pollMs: number;
};

type Deps = { clock: Clock };

export function openSqliteFrontier(
  path: string,
  { clock }: Deps,
  options: SqliteFrontierOptions,
): Frontier & FrontierAdmin {
  const file: NamedFile = { what: "broker", path, unreachable: "BROKER_UNREACHABLE" };
  const db = withFileErrors(file, "frontier.open", () => openFile(file, options.busyMs));
  const now = () => clock.now();
  const stepper = createStepper({ db, now, seen: createSeenCache() });
  const admit = createAdmit(db);
  const lease = createLease({ db, stepper, now });
  const leases = createLeases({ db, stepper, admit });
  const jobs = createJobs({ db, stepper });
  const sites = createSites({ db, stepper, now });
  const dead = createDeadLetters({ db, stepper });
  const inspector = createInspector({ db, sites, now });
  const fleet = createFleet({ db, file, now });
  const scripted = createScriptedSites({ db, now });
  const forgetting = createForgetting(db);
  const wakeups = createWakeups({ clock }, { pollMs: options.pollMs });

  /** Every call: errors of the file are coded, and writes wake this process's waiting workers. */
  const read = async <T>(op: string, work: () => T): Promise<T> => withFileErrors(file, op, work);
  const write = async <T>(op: string, work: () => T): Promise<T> => {
    const answer = withFileErrors(file, op, work);
    wakeups.changed();
    return answer;
  };

  return {
    createJob: (job) => write("frontier.createJob", () => jobs.create(job)),
    enqueue: (jobId, tasks) =>
      enqueueInSteps(tasks, (batch) =>
        write("frontier.enqueue", () => enqueueStep({ stepper, admit }, jobId, batch, options.maxPending)),
      ),
    seal: (jobId) => write("frontier.seal", () => jobs.seal(jobId)),
    lease: (request) =>
      read("frontier.lease", () => {
        wakeups.looked();
        return lease(request);
      }),
    extend: (claims, leaseMs) => read("frontier.extend", () => leases.extend(claims, leaseMs)),
    settle: (settlements) => write("frontier.settle", () => leases.settle(settlements)),
    release: (claims) => write("frontier.release", () => leases.release(claims)),
    reap: async (max) => {
      const moved = await read("frontier.reap", () => leases.expire(max) + (jobs.tidy() ? 1 : 0));
      await read("frontier.reap", () => forgetting.clear(BATCH_MOST));
      if (moved > 0) wakeups.changed();
      return moved;
    },
    abandon: (worker) => write("frontier.abandon", () => leases.abandon(worker)),
    spend: (site, unused) => read("frontier.spend", () => sites.spend(site, unused)),
    findRobots: (site) => read("frontier.findRobots", () => sites.findRobots(site)),
    keepRobots: (site, robots, delayMs) => write("frontier.keepRobots", () => sites.keepRobots(site, robots, delayMs)),
    markScripted: (site, forMs) => read("frontier.markScripted", () => scripted.mark(site, forMs)),
    isScripted: (site) => read("frontier.isScripted", () => scripted.has(site)),
    announce: (presence, ttlMs) => read("frontier.announce", () => fleet.announce(presence, ttlMs)),
    withdraw: (worker) => read("frontier.withdraw", () => fleet.withdraw(worker)),
    waitForWork: (until, signal) => wakeups.wait(until, signal),
    close: async () => db.close(),

    findJob: (jobId) => read("frontier.findJob", () => jobs.find(jobId)),
    listJobs: (limit, before) =>
      read("frontier.listJobs", () => jobs.list(limit, before?.createdAt ?? Number.MAX_SAFE_INTEGER)),
    listOpen: (limit, before) =>
      read("frontier.listOpen", () => jobs.listOpen(limit, before?.createdAt ?? Number.MAX_SAFE_INTEGER)),
    listEnded: (before, limit) => read("frontier.listEnded", () => jobs.listEnded(before, limit)),
    forgetJob: (jobId, max) => write("frontier.forgetJob", () => forgetting.forget(jobId, Math.min(max, BATCH_MOST))),
    pause: (jobId) => write("frontier.pause", () => jobs.pause(jobId)),
    resume: (jobId) => write("frontier.resume", () => jobs.resume(jobId)),
    cancel: (jobId) => write("frontier.cancel", () => jobs.cancel(jobId)),
    setPriority: (jobId, priority) => write("frontier.setPriority", () => jobs.setPriority(jobId, priority)),
    setPolicy: (jobId, policy) => write("frontier.setPolicy", () => jobs.setPolicy(jobId, policy)),
    setLimits: (jobId, change) => write("frontier.setLimits", () => jobs.setLimits(jobId, change)),
    setSitePolicy: (site, policy) => write("frontier.setSitePolicy", () => sites.setPolicy(site, policy)),
    listSites: (limit, after = "", part = "") => read("frontier.listSites", () => sites.list(limit, { after, part })),
    listBusySites: (limit, part = "") => read("frontier.listBusySites", () => sites.listBusy(limit, part)),
    findSite: (site) => read("frontier.findSite", () => sites.find(site)),
    listJobSites: (jobId, limit, after) =>
      read("frontier.listJobSites", () => sites.listOfJob(jobId, limit, after ?? "")),
    listDead: (filter, limit, after) => read("frontier.listDead", () => dead.list(filter, limit, Number(after ?? 0))),
    countDead: () => read("frontier.countDead", () => dead.count()),
    groupDead: (filter, limit) => read("frontier.groupDead", () => dead.group(filter, limit)),
    replayDead: (filter, limit, perSecond) => write("frontier.replayDead", () => dead.replay(filter, limit, perSecond)),
    discardDead: (filter, limit) => write("frontier.discardDead", () => dead.discard(filter, limit)),
    explain: (target, hearing) => read("frontier.explain", () => inspector.explain(target, hearing)),
    listHolders: () => read("frontier.listHolders", () => inspector.holders()),
    listWorkers: () => read("frontier.listWorkers", () => fleet.workers()),
    // Nobody is woken: workers hear of orders with their next announcement.
    orderWorker: (worker, order) => read("frontier.orderWorker", () => fleet.order(worker, order)),
    listQueues: () => read("frontier.listQueues", () => fleet.queues()),
    examine: () => read("frontier.examine", () => fleet.examine()),
  };
}

/** "TrwB": tells a broker's file from any other SQLite file. */
const BROKER_FILE = 0x54727742;

function openFile(file: NamedFile, busyMs: number): Database {
  // A record is durable in the store before its task is settled here, so a power cut that takes back the last steps of
  // this file only makes tasks run again: `normal` is enough, and costs no disk flush a step.
  const db = openDatabase(file.path, { durability: "normal", busyMs, pageBytes: 4096 });
  try {
    const folder = new URL("./migrations/", import.meta.url);
    migrate(db, { file, folder, applicationId: BROKER_FILE, newer: "BROKER_SCHEMA", setting: "TRAWL_BROKER" });
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** Splits a large submission, letting other work of this process through between the steps (F17). */
async function enqueueInSteps(
  tasks: readonly NewTask[],
  step: (batch: readonly NewTask[]) => Promise<EnqueueAnswer>,
): Promise<EnqueueAnswer> {
  const total = { queued: 0, duplicates: 0, refused: [] as EnqueueAnswer["refused"][number][] };
  // Once even for no tasks at all, so that a job that is missing or has ended is always told.
  for (let from = 0; from === 0 || from < tasks.length; from += BATCH_MOST) {
    if (from > 0) await setImmediate();
    const part = await step(tasks.slice(from, from + BATCH_MOST));
    total.queued += part.queued;
    total.duplicates += part.duplicates;
    total.refused.push(...part.refused.map(({ index, reason }) => ({ index: index + from, reason })));
    if (part.full !== undefined) return { ...total, full: { ...part.full, taken: part.full.taken + from } };
  }
  return total;
}

type EnqueueDeps = { stepper: Stepper; admit: Admit };

/** How soon a submitter that met the cap should come back. */
const FULL_RETRY_MS = 1000;

function enqueueStep(
  { stepper, admit }: EnqueueDeps,
  jobId: string,
  tasks: readonly NewTask[],
  maxPending: number,
): EnqueueAnswer {
  return stepper.run((step) => {
    const job = getJob(step, jobId, "frontier.enqueue");
    if (job.stopped === 1 || job.sealed === 1) {
      throw new TrawlError("JOB_ENDED", {
        op: "frontier.enqueue",
        message: `job ${jobId} is ${job.sealed === 1 ? "sealed" : job.state} and takes no more URLs; start a new job`,
        detail: { jobId, state: job.state },
      });
    }
    const room = Math.max(0, maxPending - step.totals.pending);
    const answer = admit(step, job, tasks.slice(0, room), "submitted");
    return room < tasks.length ? { ...answer, full: { taken: room, retryAfterMs: FULL_RETRY_MS } } : answer;
  }).value;
}
