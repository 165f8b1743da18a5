/** Opens Redis clients and classifies their errors. Only this file imports the client library. */
import { Cluster, Redis, type RedisOptions } from "ioredis";
import { readTlsFile } from "../../../runtime/service-url.ts";
import type { RedisUrl } from "./connection-url.ts";

export type Client = Redis | Cluster;
export type ClusterNode = Redis;

/** A server that does not answer within this time counts as unreachable. The longest script takes 20 ms. */
export const CONTACT_MS = 5_000;
const PROBE_MS = 1_000;
/**
 * If the server does not close its end of a socket, the socket is dropped after this time. Otherwise the socket would
 * keep the process alive.
 */
const DISCONNECT_MS = 100;
const MIN_RETRY_MS = 20;
const MAX_RETRY_MS = 1_000;

/** Connects in the background; calls report failures. Throws BAD_CONFIG if a TLS file of the URL is missing. */
export function connect(url: RedisUrl): Client {
  const { kind, nodes, database } = url;
  const options = {
    ...(url.username === "" ? {} : { username: url.username }),
    ...(url.password === "" ? {} : { password: url.password }),
    ...(url.tls === undefined ? {} : { tls: readTlsFiles(url.tls) }),
    connectTimeout: CONTACT_MS,
    commandTimeout: CONTACT_MS,
    disconnectTimeout: DISCONNECT_MS,
    // A command that was in flight when the connection broke may have been executed. The library must not repeat it,
    // because only our code knows which calls may be repeated.
    autoResendUnfulfilledCommands: false,
    // With 0, such commands fail at once; with null, they would wait for the command timeout.
    maxRetriesPerRequest: 0,
    // A former master that is now a replica refuses writes: reconnect to find the new master.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  } satisfies RedisOptions;
  const own = { ...options, enableOfflineQueue: false, lazyConnect: true, retryStrategy: retryDelay };
  const [first = { host: "127.0.0.1", port: 6379 }] = nodes;
  if (kind === "single") return new Redis({ ...own, ...first, db: database });
  if (kind === "sentinel") {
    return new Redis({ ...own, db: database, ...sentinelOptions(url) });
  }
  return new Cluster([...nodes], {
    redisOptions: options,
    clusterRetryStrategy: retryDelay,
    enableOfflineQueue: false,
    lazyConnect: true,
    slotsRefreshTimeout: CONTACT_MS,
    enableAutoPipelining: false,
  });
}

function sentinelOptions({ nodes, master, sentinel, tls }: RedisUrl) {
  return {
    name: master,
    sentinels: [...nodes],
    sentinelRetryStrategy: retryDelay,
    sentinelCommandTimeout: CONTACT_MS,
    ...(sentinel.username === "" ? {} : { sentinelUsername: sentinel.username }),
    ...(sentinel.password === "" ? {} : { sentinelPassword: sentinel.password }),
    // Without enableTLSForSentinelMode the library would connect to the master unencrypted, even if `tls` is set.
    ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: readTlsFiles(tls) }),
  } satisfies RedisOptions;
}

/** Without a `ca`, Node trusts its built-in authorities and those of NODE_EXTRA_CA_CERTS. */
function readTlsFiles(files: NonNullable<RedisUrl["tls"]>): Record<string, Buffer> {
  const named = Object.entries(files).filter(([, path]) => path !== "");
  return Object.fromEntries(
    named.map(([name, path]) => [name, readTlsFile(name, path, { op: "frontier.open", setting: "TRAWL_BROKER" })]),
  );
}

/** Whether a port answers a plain or a TLS connection. An Error if no connection was made at all. */
export type Probe = (at: { host: string; port: number }, how: "plain" | "tls") => Promise<"answers" | "silent" | Error>;

/** Sends no password and verifies no certificate, so it discloses nothing to an unknown server. */
export const probe: Probe = async (at, how) => {
  const client = new Redis({
    ...at,
    ...(how === "plain" ? {} : { tls: { rejectUnauthorized: false } }),
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: PROBE_MS,
    commandTimeout: PROBE_MS,
    disconnectTimeout: DISCONNECT_MS,
    retryStrategy: () => null,
  });
  let isConnected = false;
  let connectionError: NodeJS.ErrnoException | undefined;
  client.on("connect", () => {
    isConnected = true;
  });
  client.on("error", (error) => {
    connectionError = error;
  });
  try {
    await client.ping();
    return "answers";
  } catch (error) {
    // A server that requires a password also answers, and so does a TLS server that requires a client certificate.
    if ((error as Error).name === "ReplyError" || (how === "tls" && isConnected)) return "answers";
    return isConnected || connectionError === undefined ? "silent" : connectionError;
  } finally {
    client.disconnect();
  }
};

/** Calls `listener` whenever a connection to a server ends; in a cluster, to any of its nodes. */
export function onDisconnect(client: Client, listener: () => void): void {
  client.on("close", listener);
  client.on("+node", (node: Redis) => node.on("close", listener));
}

/** Calls `listener` with the reason when a server refuses the connection. The library itself would retry forever. */
export function onRefusal(client: Client, listener: (error: Error) => void): void {
  const check = (error: Error) => isRefusal(error) && listener(error);
  client.on("error", check);
  client.on("node error", check);
}

/** Whether the server refused access: a wrong password, a missing permission, or a command that it does not offer. */
export function isRefusal(error: unknown): boolean {
  return /\b(NOAUTH|WRONGPASS|NOPERM)\b|invalid username|unknown command/i.test((error as Error).message);
}

/**
 * Whether the error is temporary, so that the call should be retried: the connection was lost, or the server could not
 * execute the call at the moment. If the connection was lost, the call may have been executed.
 */
export function isTemporary(error: unknown): boolean {
  const { name, message } = error as Error;
  return (
    name === "ClusterAllFailedError" ||
    name === "MaxRetriesPerRequestError" ||
    /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|UNBLOCKED|NOREPLICAS)\b/.test(message) ||
    /ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN/.test(message) ||
    LOST_CONTACT_ERRORS.some((text) => message.includes(text))
  );
}

/** The beginnings of library messages that report a missing connection without the reason. */
export const NO_REASON_ERRORS = [
  "Connection is closed.",
  "Stream isn't writeable",
  "Cluster isn't ready",
  "Cluster is disconnect",
  "Cluster is ended",
  "Node is disconnected",
  "All sentinels are unreachable",
  "None of startup nodes is available",
  "Failed to refresh slots cache.",
];

/** The library's own messages for a lost connection. A test checks that they exist in its source. */
export const LOST_CONTACT_ERRORS = [...NO_REASON_ERRORS, "Command timed out", "Too many Cluster redirections"];

/** Whether the server cannot have started the call. */
export function wasNeverSent(error: unknown): boolean {
  const { message } = error as Error;
  return /^(LOADING|CLUSTERDOWN|READONLY)\b|isn't writeable|Cluster isn't ready/.test(message);
}

/** Whether a script ran a command that the ACL denies. Before version 7.2, the error does not name the command. */
export function isDeniedInScript(error: unknown): boolean {
  return /user executing the script can't run|ACL failure in script/.test((error as Error).message);
}

export function isUnknownScript(error: unknown): boolean {
  return (error as Error).message.startsWith("NOSCRIPT");
}

export function isOutOfMemory(error: unknown): boolean {
  return /\bOOM\b/.test((error as Error).message);
}

/** The delay doubles up to one second, with jitter so that a fleet does not reconnect at the same moment. */
function retryDelay(attempt: number): number {
  const wait = Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(attempt, 10));
  return wait * (0.5 + Math.random() / 2);
}
