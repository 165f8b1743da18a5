/** The only place that builds everything: which broker, store and fetcher stand behind the contracts. */
import { openBodies } from "./compose-bodies.ts";
import { secretsOf, shownPlace } from "./config/place.ts";
import type { Config } from "./config/schema.ts";
import { TrawlError } from "./errors.ts";
import { parseNetworks } from "./fetch/egress/address.ts";
import type { Frontier, WorkerOrder } from "./frontier/frontier.ts";
import type { FrontierAdmin } from "./frontier/frontier-admin.ts";
import { findRedisScheme } from "./frontier/redis/place.ts";
import { openSqliteFrontier } from "./frontier/sqlite/open.ts";
import { type Catalogue, createCatalogue } from "./retain/catalogue.ts";
import { type Clock, systemClock } from "./runtime/clock.ts";
import { createLog, type Log } from "./runtime/log.ts";
import { createRedact } from "./runtime/redact.ts";
import type { Tracing } from "./runtime/tracing.ts";
import type { Bodies, Parcels } from "./store/bodies/bodies.ts";
import { isPostgresUrl } from "./store/postgres/place.ts";
import { openSqliteStore } from "./store/sqlite/open-sqlite-store.ts";
import type { Store, StoreBooks } from "./store/store.ts";
import { listSubmittedJobs } from "./webhook/list-submitted-jobs.ts";
import type { TaskWatch } from "./worker/task-watch.ts";
import type { Worker, WorkerOptions } from "./worker/worker.ts";

export type Trawl = {
  clock: Clock;
  log: Log;
  frontier: Frontier & FrontierAdmin;
  store: Store & StoreBooks;
  bodies: Bodies;
  parcels: Parcels;
  /** Every job, wherever it is kept. */
  catalogue: Catalogue;
  /** Where the way of requests is told to whoever records it; the same each time. Throws TRACING_UNAVAILABLE. */
  openTracing(): Promise<Tracing>;
  createWorker(asked: NewWorker): Promise<Worker>;
  close(): Promise<void>;
};

export type NewWorker = {
  queues: readonly string[];
  /** Hosts a person typed: they may be on private networks. */
  allowHosts: readonly string[];
  unreadableJob: WorkerOptions["unreadableJob"];
  onFinished(jobId: string): void;
  watch: TaskWatch;
  /** Retires after so many tasks; Infinity: never. */
  maxTasks: number;
  /** The process that looks after this one, if one does. */
  supervisor?: string | undefined;
  /** What an operator may ask of it, and who is told; left out, nothing may be. */
  orders?: { obeys: readonly WorkerOrder[]; heard(order: WorkerOrder): void };
  /** Past so much memory whoever runs it lets it retire; Infinity, or left out: never. */
  maxMemoryMb?: number;
};

/** How long one process waits for another's write to the same file. A disk that is busy has kept one past 10 s. */
const BUSY_MS = 30_000;
const POLL_MS = 250;

/** Everything a process needs, on what the settings name. Nothing runs until a worker is started. */
export async function openTrawl(config: Config, writeLog: (line: string) => void): Promise<Trawl> {
  const clock = systemClock();
  const log = createLog(config.logLevel, writeLog, secretsIn(config));
  networksFrom(config); // a bad one is said before anything is queued
  const { bodies, parcels } = await openBodies(config, { clock });
  const frontier = await openBroker(config, { clock, log });
  const store = await openOrClose(() => openStore(config, { clock, log }), frontier);
  const closing: (() => Promise<void>)[] = [() => frontier.close(), () => store.close()];
  const catalogue = createCatalogue({
    frontier,
    listJobs: (limit, before) => listSubmittedJobs(frontier.listJobs, limit, before),
    listOpen: (limit, before) => listSubmittedJobs(frontier.listOpen, limit, before),
    archive: store.archive,
  });
  let tracing: Promise<Tracing> | undefined;
  function openTracing(): Promise<Tracing> {
    tracing ??= startTracing();
    return tracing;
  }
  async function startTracing(): Promise<Tracing> {
    // Loaded on first use: only who submits and who works has anything to tell.
    const { composeTracing } = await import("./compose-tracing.ts");
    const opened = await composeTracing(config, { log, redact: createRedact(secretsIn(config)) });
    closing.push(() => opened.close());
    return opened;
  }
  const parts = { clock, log, frontier, store, bodies, parcels, catalogue };
  return {
    ...parts,
    openTracing,
    async createWorker(asked) {
      // Loaded on first use: what fetches and reads pages takes longer to load than most commands take.
      const { composeWorker } = await import("./compose-worker.ts");
      const { worker, close } = composeWorker(config, { ...parts, tracing: await openTracing() }, asked);
      closing.unshift(close);
      return worker;
    },
    async close() {
      // What was committed stays committed: a file that cannot be tidied now is tidied by the next process.
      for (const close of closing) await close().catch((cause: unknown) => log.warn("trawl.close_failed", { cause }));
    },
  };
}

/** The frontier that TRAWL_BROKER names. Throws BAD_CONFIG, BROKER_UNREACHABLE or BROKER_SCHEMA. */
export async function openBroker(config: Config, deps: { clock: Clock; log: Log }): Promise<Frontier & FrontierAdmin> {
  const { broker, maxPending } = config;
  const redis = findRedisScheme(broker);
  if (redis !== undefined) return openRedis(config, redis.kind === "cluster", deps);
  const path = placeOf(broker, "sqlite:", "TRAWL_BROKER", "or redis://HOST:PORT, such as redis://127.0.0.1:6379");
  return openSqliteFrontier(path, deps, { maxPending, busyMs: BUSY_MS, pollMs: POLL_MS });
}

/** Redis wakes who waits; only a wake-up that got lost with a connection is waited for so long. */
const LOST_WAKEUP_MS = 5_000;
const CLUSTER_SHARDS = 16;

/** Loaded on first use: whoever has one file needs no client of Redis. */
async function openRedis(config: Config, isCluster: boolean, deps: { clock: Clock; log: Log }) {
  const { openRedisFrontier } = await import("./frontier/redis/open.ts");
  const { broker, brokerPrefix, brokerShards, brokerPatienceMs, maxPending } = config;
  const shards = brokerShards === "auto" ? (isCluster ? CLUSTER_SHARDS : 1) : brokerShards;
  return openRedisFrontier(broker, deps, {
    prefix: brokerPrefix,
    shards,
    maxPending,
    patienceMs: brokerPatienceMs,
    pollMs: LOST_WAKEUP_MS,
    time: "broker",
  });
}

/** Opens the next part; should that fail, the one before must not keep the process alive. */
async function openOrClose<T>(open: () => Promise<T>, before: Pick<Frontier, "close">): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await before.close();
    throw error;
  }
}

/** The store that TRAWL_STORE names. Throws BAD_CONFIG, STORE_UNREACHABLE or STORE_SCHEMA. */
export async function openStore(config: Config, deps: { clock: Clock; log: Log }): Promise<Store & StoreBooks> {
  const { store, storePatienceMs } = config;
  if (!isPostgresUrl(store)) {
    const path = placeOf(store, "sqlite:", "TRAWL_STORE", "or postgres://USER:PASSWORD@HOST:PORT/DATABASE");
    return openSqliteStore(path, { busyMs: BUSY_MS });
  }
  // Loaded on first use: whoever has one file needs no client of PostgreSQL.
  const { openPostgresStore } = await import("./store/postgres/open-postgres-store.ts");
  return openPostgresStore(store, deps, { patienceMs: storePatienceMs });
}

/** What no line of the log may show. */
function secretsIn({ broker, store, s3SecretKey, s3SessionToken, apiKeys, apiKey }: Config): string[] {
  const own = [s3SecretKey, s3SessionToken, apiKey, ...apiKeys.map(({ key }) => key)];
  return [...[broker, store].flatMap(secretsOf), ...own].filter((secret) => secret !== "");
}

function placeOf(url: string, scheme: string, setting: string, other = ""): string {
  const path = url.startsWith(scheme) ? url.slice(scheme.length) : "";
  if (path !== "") return path;
  const takes = `this version takes ${scheme}PATH, such as ${scheme}.trawl/x`;
  throw new TrawlError("BAD_CONFIG", {
    op: "compose",
    message: `${setting} is ${JSON.stringify(shownPlace(url))}; ${takes}${other === "" ? "" : `, ${other}`}`,
    detail: { setting },
  });
}

/** The private networks that may be fetched from. Throws BAD_CONFIG. */
export function networksFrom(config: Config) {
  const { networks, problems } = parseNetworks(config.allowPrivate.join(","));
  if (problems.length === 0) return networks;
  throw new TrawlError("BAD_CONFIG", {
    op: "compose",
    message: `TRAWL_ALLOW_PRIVATE: ${problems.join("; ")}; give networks such as 127.0.0.0/8,10.1.0.0/16`,
    detail: { problems },
  });
}
