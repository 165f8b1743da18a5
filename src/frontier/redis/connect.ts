/** Opens a client on a place, and knows what its errors mean. The only file that names the client library. */
import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { RedisPlace } from "./place.ts";

export type Client = Redis | Cluster;

/** A server that has stopped answering is taken for lost after this: a script of ours takes 20 ms at the most. */
const ANSWER_MS = 5_000;
const CONNECT_MS = 5_000;
const RETRY_LEAST_MS = 20;
const RETRY_MOST_MS = 1_000;

/** Connects in the background; whoever calls hears of failures. */
export function connect(place: RedisPlace): Client {
  const { kind, nodes, master, database, tls } = place;
  const options = {
    ...(place.username === "" ? {} : { username: place.username }),
    ...(place.password === "" ? {} : { password: place.password }),
    ...(tls ? { tls: {} } : {}),
    connectTimeout: CONNECT_MS,
    commandTimeout: ANSWER_MS,
    // What was on its way when a connection broke may have been done: only we know which calls may be made again.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
    // A former master that has become a replica refuses writes: look for the new one.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  } satisfies RedisOptions;
  const own = { ...options, enableOfflineQueue: false, lazyConnect: true, retryStrategy: waitBefore };
  const [first = { host: "127.0.0.1", port: 6379 }] = nodes;
  if (kind === "single") return new Redis({ ...own, ...first, db: database });
  if (kind === "sentinel") {
    return new Redis({ ...own, db: database, name: master, sentinels: [...nodes], sentinelRetryStrategy: waitBefore });
  }
  return new Cluster([...nodes], {
    redisOptions: options,
    clusterRetryStrategy: waitBefore,
    enableOfflineQueue: false,
    lazyConnect: true,
    slotsRefreshTimeout: ANSWER_MS,
    enableAutoPipelining: false,
  });
}

/** Whether a call that failed like this may have been made all the same, and is worth making again. */
export function isLostContact(error: unknown): boolean {
  const { name, message } = error as Error;
  return (
    name === "ClusterAllFailedError" ||
    name === "MaxRetriesPerRequestError" ||
    /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|UNBLOCKED|NOREPLICAS)\b/.test(message) ||
    /ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN/.test(message) ||
    /Connection is closed|Stream isn't writeable|Command timed out|Cluster isn't ready|All sentinels are unreachable|None of startup nodes|Failed to refresh slots|Socket closed|Connection ended|Reader is ended/i.test(
      message,
    )
  );
}

/** Whether the server had not even begun with it. */
export function wasNeverSent(error: unknown): boolean {
  const { message } = error as Error;
  return /^(LOADING|CLUSTERDOWN|READONLY)\b|isn't writeable|Cluster isn't ready/.test(message);
}

export function isUnknownScript(error: unknown): boolean {
  return (error as Error).message.startsWith("NOSCRIPT");
}

export function isOutOfMemory(error: unknown): boolean {
  return /\bOOM\b/.test((error as Error).message);
}

/** Doubling from 20 ms to a second, spread out so that a fleet does not come back in one wave. */
function waitBefore(attempt: number): number {
  const wait = Math.min(RETRY_MOST_MS, RETRY_LEAST_MS * 2 ** Math.min(attempt, 10));
  return wait * (0.5 + Math.random() / 2);
}
