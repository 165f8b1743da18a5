/**
 * Opens a Redis broker as a frontier: for any number of processes on any number of machines. `assemble` is long because it
 * is a table: one line for each operation of the contract.
 */
import { randomBytes } from "node:crypto";
import { TrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { BATCH_MOST, type Frontier } from "../frontier.ts";
import type { FrontierAdmin } from "../frontier-admin.ts";
import { createSeenCache } from "../seen-cache.ts";
import { createWakeups } from "../wakeups.ts";
import { type Broker, openBroker } from "./broker.ts";
import { type BrokerTime, callerTime, createBrokerTime } from "./broker-time.ts";
import { createDeadLetters } from "./dead.ts";
import { enqueue } from "./enqueue.ts";
import { createExaminer } from "./examine.ts";
import { createInspector } from "./explain.ts";
import { createFleet } from "./fleet.ts";
import { createForgetting } from "./forgetting.ts";
import { createGranting } from "./granting.ts";
import { createHoldings } from "./holdings.ts";
import { listJobSites } from "./job-sites.ts";
import { createJobs } from "./jobs.ts";
import { shardKey } from "./keys.ts";
import { createLeases } from "./leases.ts";
import { createPageQuota } from "./page-quota.ts";
import { parseRedisPlace } from "./place.ts";
import { refusingUnsafe } from "./refuse-unsafe.ts";
import { loadScripts } from "./scripts.ts";
import { allDone, createShards, type Shard } from "./shards.ts";
import { createSites } from "./sites.ts";

export type RedisFrontierOptions = {
  /** What the names of all keys begin with. */
  prefix: string;
  /** Parts the sites are spread over: 1 on a single server, more on a cluster. Fixed once a broker is in use. */
  shards: number;
  /** URLs waiting in the whole broker past which `enqueue` takes no more (F13). */
  maxPending: number;
  /** A call fails when the broker has been out of reach for so long. */
  patienceMs: number;
  /** Longest wait of an idle worker that nobody wakes: a wake-up may get lost with a connection. */
  pollMs: number;
  /** Whose clock counts: Redis's own, or, in tests, the one given. */
  time: "broker" | "caller";
};

type Deps = { clock: Clock; log: Log };

/**
 * What this version writes, and the oldest version that can work beside it. Changing a stored shape raises both; layouts
 * count from the first release on.
 */
const SCHEMA = 1;
const READABLE = 1;

export async function openRedisFrontier(
  url: string,
  { clock, log }: Deps,
  options: RedisFrontierOptions,
): Promise<Frontier & FrontierAdmin> {
  const place = parseRedisPlace(url);
  const times = new Map<string, BrokerTime>();
  const timeOf = (shard: string): BrokerTime => {
    const time = times.get(shard) ?? (options.time === "caller" ? callerTime() : createBrokerTime(clock));
    times.set(shard, time);
    return time;
  };
  const broker = openBroker(place, { clock, log, timeOf, scripts: loadScripts() }, options);
  broker.onRestart(() => {
    for (const time of times.values()) time.doubt();
  });
  const ear = randomBytes(8).toString("hex");
  const wakeups = createWakeups({ clock }, options);
  try {
    // A database that is not there would be taken for the first one.
    if (place.database > 0) await broker.ask("SELECT", place.database);
    await checkSchema(broker, options);
    for (let index = 0; index < options.shards; index++) {
      await broker.listen(`${shardKey(options.prefix, index)}:wake:${ear}`, wakeups.changed);
    }
  } catch (error) {
    await broker.close();
    throw error;
  }
  return assemble({ clock, log, timeOf, broker, ear, wakeups }, options);
}

type Parts = {
  clock: Clock;
  log: Log;
  timeOf(shard: string): BrokerTime;
  broker: Broker;
  ear: string;
  wakeups: ReturnType<typeof createWakeups>;
};

function assemble(parts: Parts, options: RedisFrontierOptions): Frontier & FrontierAdmin {
  const { clock, log, timeOf, broker, ear, wakeups } = parts;
  const shards = createShards({ broker, clock, timeOf, caller: ear }, options);
  // For what is told to people, one server's clock is as good as another's.
  const time = timeOf(shardKey(options.prefix, 0));
  const jobs = createJobs({ shards, time });
  const sites = createSites({ shards });
  const dead = createDeadLetters({ shards, time, jobs });
  const fleet = createFleet({ shards, time });
  const forgetting = createForgetting(shards);
  const explain = createInspector({ shards, jobs, sites, dead, time, clock });
  let seen = createSeenCache();
  broker.onRestart(() => {
    seen = createSeenCache();
  });
  const quota = createPageQuota(shards);
  const full = new Set<Shard>();
  const holdings = createHoldings();
  const lease = createGranting({ shards, endings: jobs, holdings, clock, ear }, options);
  const leases = createLeases({ shards, endings: jobs, quota, seen: () => seen, holdings });
  /** When the last lease call told this process to look again, where that differs from when something is due. */
  let told: { dueAt: number | undefined; lookAt: number | undefined } = { dueAt: undefined, lookAt: undefined };

  /** What this process changes wakes its own worker; others are woken by the scripts. */
  const waking = async <T>(work: Promise<T>): Promise<T> => {
    const answer = await work;
    wakeups.changed();
    return answer;
  };

  const frontier: Frontier & FrontierAdmin = {
    createJob: (job) => jobs.create(job),
    enqueue: (jobId, tasks) => waking(enqueue({ shards, quota, full }, jobId, tasks, options.maxPending)),
    seal: (jobId) => waking(jobs.seal(jobId)),
    async lease(request) {
      wakeups.looked();
      const { lookAt, ...answer } = await lease(request);
      const { nextDueAt = Infinity, aloneDueAt = Infinity } = answer;
      told = { dueAt: Math.min(nextDueAt, aloneDueAt), lookAt };
      return answer;
    },
    extend: (claims, leaseMs) => leases.extend(claims, leaseMs),
    settle: (settlements) => waking(leases.settle(settlements)),
    release: (claims) => waking(leases.release(claims)),
    async reap(max) {
      // At once: while a shard is out of reach, all that does not need it goes on.
      const upkeep = [jobs.carryOn(), jobs.sweep(), jobs.forgetLapsed(), forgetting.clear(BATCH_MOST)];
      const expiring = leases.expire(max);
      // What expires first, then what has ended: the other way round other rules may be the last that a site hears.
      const tidying = expiring.then(jobs.tidy, jobs.tidy);
      const [expired, tidied] = await allDone([expiring, tidying, ...upkeep]);
      const moved = expired + (tidied ? 1 : 0);
      if (moved > 0) wakeups.changed();
      return moved;
    },
    abandon: (worker) => waking(leases.abandon(worker)),
    spend: (site, unused) => sites.spend(site, unused),
    findRobots: (site) => sites.findRobots(site),
    keepRobots: (site, robots, delayMs) => waking(sites.keepRobots(site, robots, delayMs)),
    markScripted: (site, forMs) => sites.markScripted(site, forMs),
    isScripted: (site) => sites.isScripted(site),
    announce: (presence, ttlMs) => fleet.announce(presence, ttlMs),
    withdraw: (worker) => fleet.withdraw(worker),
    // Of many idle workers one looks when something comes due; the others a little later, should it not have come.
    waitForWork: (until, signal) => wakeups.wait(until === told.dueAt ? (told.lookAt ?? until) : until, signal),
    close: () => broker.close(),

    async findJob(jobId) {
      const row = await jobs.find(jobId);
      return row === undefined ? undefined : jobs.view(row);
    },
    listJobs: (limit, before) => jobs.list(limit, before?.createdAt),
    listOpen: (limit, before) => jobs.listOpen(limit, before?.createdAt),
    listEnded: (before, limit) => jobs.listEnded(before, limit),
    async forgetJob(jobId, max) {
      const left = await forgetting.forget(jobId, max);
      seen = createSeenCache(); // it knows URLs by the ids of jobs
      return left;
    },
    pause: (jobId) => waking(jobs.change(jobId, { op: "pause" })),
    resume: (jobId) => waking(jobs.change(jobId, { op: "resume" })),
    cancel: (jobId) => waking(jobs.change(jobId, { op: "cancel" })),
    setPriority: (jobId, priority) => waking(jobs.change(jobId, { op: "priority", priority })),
    setPolicy: (jobId, policy) => waking(jobs.change(jobId, { op: "policy", policy })),
    setLimits: (jobId, limits) => waking(jobs.change(jobId, { op: "limits", limits })),
    setSitePolicy: (site, policy) => waking(sites.setPolicy(site, policy)),
    listSites: (limit, after = "", part = "") => sites.list(limit, { after, part }),
    listBusySites: (limit, part = "") => sites.listBusy(Math.min(limit, BATCH_MOST), part),
    findSite: (site) => sites.find(site),
    listJobSites: (jobId, limit, after) => listJobSites(shards, jobId, limit, after ?? ""),
    listDead: (filter, limit, after) => dead.list(filter, limit, after ?? "0"),
    countDead: () => dead.count(),
    groupDead: (filter, limit) => dead.group(filter, limit),
    replayDead: (filter, limit, perSecond) => waking(dead.replay(filter, limit, perSecond)),
    discardDead: (filter, limit) => waking(dead.discard(filter, limit)),
    explain,
    listHolders: () => fleet.holders(),
    listWorkers: () => fleet.workers(),
    orderWorker: (worker, order) => fleet.order(worker, order),
    listQueues: () => fleet.queues(),
    examine: createExaminer({ broker, shards, time }, options),
  };
  return refusingUnsafe(frontier, { shards, log, shown: broker.shown });
}

async function checkSchema(broker: Broker, { prefix, shards }: RedisFrontierOptions): Promise<void> {
  for (let index = 0; index < shards; index++) {
    const { reply } = await broker.run("open-shard", shardKey(prefix, index), () => [SCHEMA, READABLE, index, shards]);
    const [, schema, readable, there] = reply.map(Number);
    if (readable === undefined || !(readable <= SCHEMA)) {
      throw new TrawlError("BROKER_SCHEMA", {
        op: "frontier.open",
        message: `broker ${broker.shown} (prefix ${prefix}) has schema ${schema}, which needs a newer Trawl; this one knows ${SCHEMA}. Upgrade Trawl, or use another TRAWL_BROKER_PREFIX`,
        detail: { schema, known: SCHEMA },
      });
    }
    if (there !== shards) {
      throw new TrawlError("BAD_CONFIG", {
        op: "frontier.open",
        message: `broker ${broker.shown} (prefix ${prefix}) was set up with ${there} shards, not ${shards}; set TRAWL_BROKER_SHARDS=${there}, or use another TRAWL_BROKER_PREFIX`,
        detail: { there, shards },
      });
    }
  }
}
