/**
 * Opens a Redis broker as a frontier, for any number of processes on any number of machines. `assemble` is long because
 * it is a table: one line per operation of the contract.
 */
import { randomBytes } from "node:crypto";
import { TrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { type Frontier, MAX_BATCH } from "../frontier.ts";
import type { FrontierAdmin } from "../frontier-admin.ts";
import { createSeenCache } from "../seen-cache.ts";
import { createWakeups } from "../wakeups.ts";
import { createPageQuota } from "./cluster/page-quota.ts";
import { allDone, createShards, type Shard } from "./cluster/shards.ts";
import { type BrokerClient, openBrokerClient } from "./connection/broker-client.ts";
import { type BrokerClock, callerClock, createBrokerClock } from "./connection/broker-clock.ts";
import { parseRedisUrl } from "./connection/connection-url.ts";
import { loadScripts } from "./connection/scripts.ts";
import { createDeadLetters } from "./dead.ts";
import { enqueue } from "./enqueue.ts";
import { createExplain } from "./explain.ts";
import { createFleet } from "./fleet.ts";
import { createForgetter } from "./forget.ts";
import { withSafetyChecks } from "./health/refuse-unsafe.ts";
import { createHealthCheck } from "./health.ts";
import { createHeldClaims } from "./held-claims.ts";
import { listJobSites } from "./job-sites.ts";
import { createJobs } from "./jobs.ts";
import { shardKey } from "./keys.ts";
import { createLease } from "./lease.ts";
import { createSettler } from "./settle.ts";
import { createSharedValues } from "./shared-values.ts";
import { createSites } from "./sites.ts";
import { openTerm, returnTerms } from "./terms.ts";

export type RedisFrontierOptions = {
  /** The start of all key names. */
  prefix: string;
  /**
   * Number of shards that the sites are distributed over: 1 on a single server, more on a cluster. It cannot be changed
   * later.
   */
  shards: number;
  /** Max URLs waiting in the whole broker; `enqueue` accepts no more (F13). */
  maxPending: number;
  /** A call fails when the broker has been unreachable for this long. */
  retryForMs: number;
  /** The longest time that an idle worker waits for a wake-up. A wake-up may be lost when a connection breaks. */
  pollMs: number;
  /** Which clock is used. Tests use the clock of the caller. */
  time: "broker" | "caller";
};

type Deps = { clock: Clock; log: Log };

/**
 * The schema that this version writes, and the oldest schema version that can work with it. A change of a stored shape
 * raises both. The first release has schema 1.
 */
const SCHEMA = 1;
const OLDEST_COMPATIBLE = 1;

export async function openRedisFrontier(
  url: string,
  { clock, log }: Deps,
  options: RedisFrontierOptions,
): Promise<Frontier & FrontierAdmin> {
  const server = parseRedisUrl(url);
  const times = new Map<string, BrokerClock>();
  const timeOf = (shard: string): BrokerClock => {
    const time = times.get(shard) ?? (options.time === "caller" ? callerClock() : createBrokerClock(clock));
    times.set(shard, time);
    return time;
  };
  const broker = openBrokerClient(server, { clock, log, timeOf, scripts: loadScripts() }, options);
  broker.onRestart(() => {
    for (const time of times.values()) time.invalidate();
  });
  const wakeChannel = randomBytes(8).toString("hex");
  const wakeups = createWakeups({ clock }, options);
  try {
    // Fails if the database does not exist; without SELECT, the library would use database 0.
    if (server.database > 0) await broker.read("SELECT", server.database);
    await checkSchema(broker, options);
    for (let index = 0; index < options.shards; index++) {
      await broker.subscribe(`${shardKey(options.prefix, index)}:wake:${wakeChannel}`, wakeups.changed);
    }
  } catch (error) {
    await broker.close();
    throw error;
  }
  return assemble({ clock, log, timeOf, broker, wakeChannel, wakeups }, options);
}

type Parts = {
  clock: Clock;
  log: Log;
  timeOf(shard: string): BrokerClock;
  broker: BrokerClient;
  wakeChannel: string;
  wakeups: ReturnType<typeof createWakeups>;
};

function assemble(parts: Parts, options: RedisFrontierOptions): Frontier & FrontierAdmin {
  const { clock, log, timeOf, broker, wakeChannel, wakeups } = parts;
  const shards = createShards({ broker, clock, timeOf, caller: wakeChannel }, options);
  // For times that users see, the clock of any shard is accurate enough.
  const time = timeOf(shardKey(options.prefix, 0));
  const jobs = createJobs({ shards, time });
  const sites = createSites({ shards });
  const values = createSharedValues({ shards });
  const dead = createDeadLetters({ shards, time, jobs });
  const fleet = createFleet({ shards, time });
  const forgetter = createForgetter(shards);
  const explain = createExplain({ shards, jobs, sites, dead, time, clock });
  let seen = createSeenCache();
  broker.onRestart(() => {
    seen = createSeenCache();
  });
  const quota = createPageQuota(shards);
  const full = new Set<Shard>();
  const held = createHeldClaims();
  const lease = createLease({ shards, completion: jobs, held, clock, wakeChannel }, options);
  const settler = createSettler({ shards, completion: jobs, quota, seen: () => seen, held });
  /** From the last lease call: when tasks are due, and when this process should call `lease` for them. */
  let next: { dueAt: number | undefined; pollAt: number | undefined } = { dueAt: undefined, pollAt: undefined };

  /** Wakes the workers of this process after a change. The scripts wake those of other processes. */
  const waking = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work;
    wakeups.changed();
    return result;
  };

  const frontier: Frontier & FrontierAdmin = {
    createJob: (job) => jobs.create(job),
    enqueue: (jobId, tasks) => waking(enqueue({ shards, quota, full }, jobId, tasks, options.maxPending)),
    seal: (jobId) => waking(jobs.seal(jobId)),
    async lease(request) {
      wakeups.leasing();
      const { pollAt, ...answer } = await lease(request);
      const { nextDueAt = Infinity, aloneDueAt = Infinity } = answer;
      next = { dueAt: Math.min(nextDueAt, aloneDueAt), pollAt };
      return answer;
    },
    extend: (claims, leaseMs) => settler.extend(claims, leaseMs),
    settle: (settlements) => waking(settler.settle(settlements)),
    discover: (claim, tasks) => waking(settler.discover(claim, tasks)),
    release: (claims) => waking(settler.release(claims)),
    async reap(max) {
      // All at once, so that an unreachable shard delays only the work that needs it.
      const upkeep = [jobs.resumeChanges(), jobs.sweep(), jobs.expireSeen(), forgetter.clear(MAX_BATCH)];
      const expiring = settler.expire(max);
      // Expired leases first, then ended jobs, as on the other backends: the order decides which policy a site keeps.
      const maintaining = expiring.then(jobs.maintain, jobs.maintain);
      const [expired, worked] = await allDone([expiring, maintaining, ...upkeep]);
      const moved = expired + (worked ? 1 : 0);
      if (moved > 0) wakeups.changed();
      return moved;
    },
    abandon: (worker, crashed) => waking(settler.abandon(worker, crashed)),
    openTerm: (request) => openTerm(shards, request),
    returnTerms: (returned) => waking(returnTerms(shards, returned)),
    findRobots: (site) => sites.findRobots(site),
    keepRobots: (site, robots, delayMs) => waking(sites.keepRobots(site, robots, delayMs)),
    markScripted: (site, forMs) => sites.markScripted(site, forMs),
    isScripted: (site) => sites.isScripted(site),
    findValue: (key) => values.find(key),
    keepValue: (key, value, condition) => values.keep(key, value, condition),
    announce: (presence, ttlMs) => fleet.announce(presence, ttlMs),
    withdraw: (worker) => fleet.withdraw(worker),
    // When a task becomes due, one of many idle workers calls `lease`. The others call it a little later, in case that
    // worker did not.
    waitForWork: (until, signal) => wakeups.wait(until === next.dueAt ? (next.pollAt ?? until) : until, signal),
    close: () => broker.close(),

    async findJob(jobId) {
      const row = await jobs.find(jobId);
      return row === undefined ? undefined : jobs.view(row);
    },
    findJobs: (jobIds) => jobs.findAll(jobIds),
    listJobs: (limit, before) => jobs.list(limit, before?.createdAt),
    listOpen: (limit, before) => jobs.listOpen(limit, before?.createdAt),
    listEnded: (before, limit) => jobs.listEnded(before, limit),
    async forgetJob(jobId, max) {
      const left = await forgetter.forget(jobId, max);
      seen = createSeenCache(); // its keys are job ids, and the id may be used again
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
    listBusySites: (limit, part = "") => sites.listBusy(Math.min(limit, MAX_BATCH), part),
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
    commandWorker: (worker, command) => fleet.command(worker, command),
    listQueues: () => fleet.queues(),
    examine: createHealthCheck({ broker, shards, time }, options),
  };
  return withSafetyChecks(frontier, { shards, log, redacted: broker.redacted });
}

async function checkSchema(broker: BrokerClient, { prefix, shards }: RedisFrontierOptions): Promise<void> {
  for (let index = 0; index < shards; index++) {
    const { reply } = await broker.run("open-shard", shardKey(prefix, index), () => [
      SCHEMA,
      OLDEST_COMPATIBLE,
      index,
      shards,
    ]);
    const [, schema, oldest, stored] = reply.map(Number);
    if (oldest === undefined || !(oldest <= SCHEMA)) {
      throw new TrawlError("BROKER_SCHEMA", {
        op: "frontier.open",
        message: `broker ${broker.redacted} (prefix ${prefix}) has schema ${schema}, which needs a newer Trawl; this one supports ${SCHEMA}. Upgrade Trawl, or use another TRAWL_BROKER_PREFIX`,
        detail: { schema, known: SCHEMA },
      });
    }
    if (stored !== shards) {
      throw new TrawlError("BAD_CONFIG", {
        op: "frontier.open",
        message: `broker ${broker.redacted} (prefix ${prefix}) was created with ${stored} shards, not ${shards}; set TRAWL_BROKER_SHARDS=${stored}, or use another TRAWL_BROKER_PREFIX`,
        detail: { there: stored, shards },
      });
    }
  }
}
