/** Opens a broker file as a frontier. Any number of processes on one machine may open the same file. */
import type { Clock } from "../../runtime/clock.ts";
import { type Database, openDatabase } from "../../runtime/sqlite.ts";
import { type SqliteFile, withFileErrors } from "../../runtime/sqlite-errors.ts";
import { migrate } from "../../runtime/sqlite-schema.ts";
import { type Frontier, MAX_BATCH } from "../frontier.ts";
import type { FrontierAdmin } from "../frontier-admin.ts";
import { createSeenCache } from "../seen-cache.ts";
import { createWakeups } from "../wakeups.ts";
import { createAdmitMany } from "./admit-many.ts";
import { createDeadLetters } from "./dead.ts";
import { createAdmit, discoverInBatches, enqueueBatch, enqueueInBatches } from "./enqueue.ts";
import { createExplain } from "./explain.ts";
import { createFleet } from "./fleet.ts";
import { createForgetter } from "./forget.ts";
import { createHealthCheck } from "./health.ts";
import { createListJobSites } from "./job-sites.ts";
import { createJobs } from "./jobs.ts";
import { createLease } from "./lease.ts";
import { createSettler } from "./settle.ts";
import { createSharedValues } from "./shared-values.ts";
import { createSites } from "./sites.ts";
import { createRunTransaction } from "./transaction.ts";

type SqliteFrontierOptions = {
  /** Max URLs waiting in the whole broker; `enqueue` accepts no more (F13). */
  maxPending: number;
  /** How long a writer waits for the write lock of another process. */
  busyMs: number;
  /** How often a waiting worker polls for tasks that another process queued. */
  pollMs: number;
};

type Deps = { clock: Clock };

export function openSqliteFrontier(
  path: string,
  { clock }: Deps,
  options: SqliteFrontierOptions,
): Frontier & FrontierAdmin {
  const file: SqliteFile = { what: "broker", path, unreachable: "BROKER_UNREACHABLE" };
  const db = withFileErrors(file, "frontier.open", () => openFile(file, options.busyMs));
  const now = () => clock.now();
  const runTransaction = createRunTransaction({ db, now, seen: createSeenCache() });
  const admit = createAdmit(db);
  const admitMany = createAdmitMany(db, admit);
  const lease = createLease({ db, runTransaction, now });
  const settler = createSettler({ db, runTransaction, admit, admitMany });
  const jobs = createJobs({ db, runTransaction });
  const sites = createSites({ db, runTransaction, now });
  const values = createSharedValues(db, now);
  const dead = createDeadLetters({ db, runTransaction });
  const explain = createExplain({ db, sites, now });
  const fleet = createFleet({ db, now });
  const forgetter = createForgetter(db);
  const listJobSites = createListJobSites(db);
  const examine = createHealthCheck({ db, file });
  const wakeups = createWakeups({ clock }, { pollMs: options.pollMs });

  /** Both turn file errors into TrawlErrors. `write` also wakes this process's waiting workers. */
  const read = async <T>(op: string, work: () => T): Promise<T> => withFileErrors(file, op, work);
  const write = async <T>(op: string, work: () => T): Promise<T> => {
    const result = withFileErrors(file, op, work);
    wakeups.changed();
    return result;
  };

  return {
    createJob: (job) => write("frontier.createJob", () => jobs.create(job)),
    enqueue: (jobId, tasks) =>
      enqueueInBatches(tasks, (batch) =>
        write("frontier.enqueue", () => enqueueBatch({ runTransaction, admitMany }, jobId, batch, options.maxPending)),
      ),
    seal: (jobId) => write("frontier.seal", () => jobs.seal(jobId)),
    lease: (request) =>
      read("frontier.lease", () => {
        wakeups.leasing();
        return lease(request);
      }),
    extend: (claims, leaseMs) => read("frontier.extend", () => settler.extend(claims, leaseMs)),
    settle: (settlements) => write("frontier.settle", () => settler.settle(settlements)),
    discover: (claim, tasks) =>
      discoverInBatches(tasks, (batch) => write("frontier.discover", () => settler.discover(claim, batch))),
    release: (claims) => write("frontier.release", () => settler.release(claims)),
    reap: async (max) => {
      const moved = await read("frontier.reap", () => settler.expire(max) + (jobs.maintain() ? 1 : 0));
      await read("frontier.reap", () => forgetter.clear(MAX_BATCH));
      if (moved > 0) wakeups.changed();
      return moved;
    },
    abandon: (worker, crashed) => write("frontier.abandon", () => settler.abandon(worker, crashed)),
    openTerm: (request) => read("frontier.openTerm", () => sites.openTerm(request)),
    returnTerms: (returned) => write("frontier.returnTerms", () => sites.returnTerms(returned)),
    findRobots: (site) => read("frontier.findRobots", () => sites.findRobots(site)),
    keepRobots: (site, robots, delayMs) => write("frontier.keepRobots", () => sites.keepRobots(site, robots, delayMs)),
    markScripted: (site, forMs) => read("frontier.markScripted", () => sites.markScripted(site, forMs)),
    isScripted: (site) => read("frontier.isScripted", () => sites.isScripted(site)),
    findValue: (key) => read("frontier.findValue", () => values.find(key)),
    keepValue: (key, value, condition) => read("frontier.keepValue", () => values.keep(key, value, condition)),
    announce: (presence, ttlMs) => read("frontier.announce", () => fleet.announce(presence, ttlMs)),
    withdraw: (worker) => read("frontier.withdraw", () => fleet.withdraw(worker)),
    waitForWork: (until, signal) => wakeups.wait(until, signal),
    close: async () => db.close(),

    findJob: (jobId) => read("frontier.findJob", () => jobs.find(jobId)),
    findJobs: (jobIds) => read("frontier.findJobs", () => jobs.findAll(jobIds)),
    listJobs: (limit, before) =>
      read("frontier.listJobs", () => jobs.list(limit, before?.createdAt ?? Number.MAX_SAFE_INTEGER)),
    listOpen: (limit, before) =>
      read("frontier.listOpen", () => jobs.listOpen(limit, before?.createdAt ?? Number.MAX_SAFE_INTEGER)),
    listEnded: (before, limit) => read("frontier.listEnded", () => jobs.listEnded(before, limit)),
    forgetJob: (jobId, max) => write("frontier.forgetJob", () => forgetter.forget(jobId, Math.min(max, MAX_BATCH))),
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
    listJobSites: (jobId, limit, after) => read("frontier.listJobSites", () => listJobSites(jobId, limit, after ?? "")),
    listDead: (filter, limit, after) => read("frontier.listDead", () => dead.list(filter, limit, Number(after ?? 0))),
    countDead: () => read("frontier.countDead", () => dead.count()),
    groupDead: (filter, limit) => read("frontier.groupDead", () => dead.group(filter, limit)),
    replayDead: (filter, limit, perSecond) => write("frontier.replayDead", () => dead.replay(filter, limit, perSecond)),
    discardDead: (filter, limit) => write("frontier.discardDead", () => dead.discard(filter, limit)),
    explain: (target, visibility) => read("frontier.explain", () => explain(target, visibility)),
    listHolders: () => read("frontier.listHolders", () => fleet.holders()),
    listWorkers: () => read("frontier.listWorkers", () => fleet.workers()),
    // Wakes no worker: a worker reads its command with its next announcement.
    commandWorker: (worker, command) => read("frontier.commandWorker", () => fleet.command(worker, command)),
    listQueues: () => read("frontier.listQueues", () => fleet.queues()),
    examine: () => read("frontier.examine", () => examine()),
  };
}

/** "TrwB" in ASCII: SQLite's application_id of a broker file. */
const BROKER_FILE = 0x54727742;

function openFile(file: SqliteFile, busyMs: number): Database {
  // Records are durable in the store before their task is settled here. A power cut that loses the last transactions of
  // this file only makes tasks run again, so `normal` is enough, and it saves one disk flush per transaction.
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
