/** Opens the components that a process needs: the broker, the store and the body storage of the settings. */
import { maskedUrl, secretsOf } from "../config/connection-url.ts";
import { exitSecrets } from "../config/resolve-exits.ts";
import type { Config } from "../config/schema.ts";
import { type Catalogue, createCatalogue } from "../control/catalogue.ts";
import { TrawlError } from "../errors.ts";
import { parseNetworks } from "../fetch/egress/address.ts";
import type { Frontier, WorkerCommand } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import { findRedisScheme } from "../frontier/redis/connection/connection-url.ts";
import { openSqliteFrontier } from "../frontier/sqlite/open.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { createLog, type Log } from "../runtime/log.ts";
import { createRedact } from "../runtime/redact.ts";
import type { Tracing } from "../runtime/tracing.ts";
import type { OnSelector } from "../spider/spider-reader.ts";
import type { Bodies, PageSpool, RequestBodies } from "../store/bodies/bodies.ts";
import { isPostgresUrl } from "../store/postgres/connection-url.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";
import type { ControlStores, Store } from "../store/store.ts";
import { listSubmittedJobs } from "../webhook/webhook-view.ts";
import type { TaskObserver } from "../worker/observe/task-observer.ts";
import type { Worker, WorkerOptions } from "../worker/worker.ts";
import { openBodies } from "./bodies.ts";

export type App = {
  clock: Clock;
  log: Log;
  frontier: Frontier & FrontierAdmin;
  store: Store & ControlStores;
  bodies: Bodies;
  spool: PageSpool;
  requestBodies: RequestBodies;
  /** The jobs in the broker and in the archive. */
  catalogue: Catalogue;
  /** Starts tracing on the first call; later calls return the same instance. Throws TRACING_UNAVAILABLE. */
  openTracing(): Promise<Tracing>;
  createWorker(options: NewWorker): Promise<Worker>;
  close(): Promise<void>;
};

export type NewWorker = {
  queues: readonly string[];
  /** Hosts of the URLs that the user typed. They are allowed even if they are on private networks. */
  allowHosts: readonly string[];
  /** Whether jobs may use secrets that TRAWL_SECRETS does not list: the user who runs this process wrote the jobs. */
  mayUseAllSecrets: boolean;
  unreadableJob: WorkerOptions["unreadableJob"];
  onFinished(jobId: string): void;
  onSelector?: OnSelector | undefined;
  /** An additional observer of every task. */
  observer?: TaskObserver | undefined;
  /** The worker retires after this many tasks. Infinity means never. */
  maxTasks: number;
  /** The process that supervises this one. */
  supervisor?: string | undefined;
  /** The operator commands that the worker accepts, and the function that receives them. Default: none. */
  commands?: { accepted: readonly WorkerCommand[]; received(command: WorkerCommand): void };
  /** The memory limit at which the caller retires the worker, for display. Infinity or undefined means none. */
  maxMemoryMb?: number;
};

/** How long a process waits while another one writes to the same file. On a busy disk a write has taken over 10 s. */
const BUSY_MS = 30_000;
const POLL_MS = 250;

/** Opens the components. No task runs until a worker is started. */
export async function openApp(config: Config, writeLog: (line: string) => void): Promise<App> {
  const clock = systemClock();
  const log = createLog(config.logLevel, writeLog, secretsIn(config));
  networksFrom(config); // an invalid network is reported before anything is queued
  const { bodies, spool, requestBodies } = await openBodies(config, { clock });
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
    // Loaded on first use: only submissions and workers record spans.
    const { composeTracing } = await import("./tracing.ts");
    const opened = await composeTracing(config, { log, redact: createRedact(secretsIn(config)) });
    closing.push(() => opened.close());
    return opened;
  }
  const parts = { clock, log, frontier, store, bodies, spool, requestBodies, catalogue };
  return {
    ...parts,
    openTracing,
    async createWorker(options) {
      // Loaded on first use: the fetchers and parsers take longer to load than most commands run.
      const { composeWorker } = await import("./worker.ts");
      const { worker, close } = composeWorker(config, { ...parts, tracing: await openTracing() }, options);
      closing.unshift(close);
      return worker;
    },
    async close() {
      // Committed data is safe: the next process cleans up a file that could not be closed.
      for (const close of closing) await close().catch((cause: unknown) => log.warn("app.close_failed", { cause }));
    },
  };
}

/** The frontier that TRAWL_BROKER names. Throws BAD_CONFIG, BROKER_UNREACHABLE or BROKER_SCHEMA. */
export async function openBroker(config: Config, deps: { clock: Clock; log: Log }): Promise<Frontier & FrontierAdmin> {
  const { broker, maxPending } = config;
  const redis = findRedisScheme(broker);
  if (redis !== undefined) return openRedis(config, redis.kind === "cluster", deps);
  const path = filePathOf(broker, "sqlite:", "TRAWL_BROKER", "or redis://HOST:PORT, such as redis://127.0.0.1:6379");
  return openSqliteFrontier(path, deps, { maxPending, busyMs: BUSY_MS, pollMs: POLL_MS });
}

/** The longest wait of a worker if a wake-up message was lost with its connection. Usually Redis wakes the worker. */
const LOST_WAKEUP_MS = 5_000;
const CLUSTER_SHARDS = 16;

/** Loads the Redis client on first use. */
async function openRedis(config: Config, isCluster: boolean, deps: { clock: Clock; log: Log }) {
  const { openRedisFrontier } = await import("../frontier/redis/open.ts");
  const { broker, brokerPrefix, brokerShards, brokerRetryForMs, maxPending } = config;
  const shards = brokerShards === "auto" ? (isCluster ? CLUSTER_SHARDS : 1) : brokerShards;
  return openRedisFrontier(broker, deps, {
    prefix: brokerPrefix,
    shards,
    maxPending,
    retryForMs: brokerRetryForMs,
    pollMs: LOST_WAKEUP_MS,
    time: "broker",
  });
}

/** Opens the store. If that fails, closes the frontier, so that it does not keep the process alive. */
async function openOrClose<T>(open: () => Promise<T>, before: Pick<Frontier, "close">): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await before.close();
    throw error;
  }
}

/** The store that TRAWL_STORE names. Throws BAD_CONFIG, STORE_UNREACHABLE or STORE_SCHEMA. */
export async function openStore(config: Config, deps: { clock: Clock; log: Log }): Promise<Store & ControlStores> {
  const { store, storeRetryForMs } = config;
  if (!isPostgresUrl(store)) {
    const path = filePathOf(store, "sqlite:", "TRAWL_STORE", "or postgres://USER:PASSWORD@HOST:PORT/DATABASE");
    return openSqliteStore(path, { busyMs: BUSY_MS });
  }
  // Loads the PostgreSQL client on first use.
  const { openPostgresStore } = await import("../store/postgres/open-postgres-store.ts");
  return openPostgresStore(store, deps, { retryForMs: storeRetryForMs });
}

/** The values that must not appear in logs. */
function secretsIn({ broker, store, s3SecretKey, s3SessionToken, apiKeys, apiKey, proxies }: Config): string[] {
  const own = [s3SecretKey, s3SessionToken, apiKey, ...apiKeys.map(({ key }) => key)];
  return [...[broker, store].flatMap(secretsOf), ...own, ...exitSecrets(proxies)].filter((secret) => secret !== "");
}

/** The path in a connection URL of a file. Throws BAD_CONFIG. */
function filePathOf(url: string, scheme: string, setting: string, other: string): string {
  const path = url.startsWith(scheme) ? url.slice(scheme.length) : "";
  if (path !== "") return path;
  const takes = `this version takes ${scheme}PATH, such as ${scheme}.trawl/x`;
  throw new TrawlError("BAD_CONFIG", {
    op: "compose",
    message: `${setting} is ${JSON.stringify(maskedUrl(url))}; ${takes}, ${other}`,
    detail: { setting },
  });
}

/** The private networks that workers may connect to. Throws BAD_CONFIG. */
export function networksFrom(config: Config) {
  const { networks, problems } = parseNetworks(config.allowPrivate.join(","));
  if (problems.length === 0) return networks;
  throw new TrawlError("BAD_CONFIG", {
    op: "compose",
    message: `TRAWL_ALLOW_PRIVATE: ${problems.join("; ")}; set networks such as 127.0.0.0/8,10.1.0.0/16`,
    detail: { problems },
  });
}
