/** Opens a client on a place, and knows what its errors mean. The only file that names the client library. */
import { Cluster, Redis, type RedisOptions } from "ioredis";
import { readTlsFile } from "../../runtime/service-url.ts";
import type { RedisPlace } from "./place.ts";

export type Client = Redis | Cluster;
export type ClusterNode = Redis;

/** A server that has not let us in, or has stopped answering, is taken for lost after this: a script of ours takes 20 ms. */
export const CONTACT_MS = 5_000;
const PROBE_MS = 1_000;
/** A socket that the server does not close after us is dropped; until then it would keep a process from ending. */
const FAREWELL_MS = 100;
const RETRY_LEAST_MS = 20;
const RETRY_MOST_MS = 1_000;

/** Connects in the background; whoever calls hears of failures. Throws BAD_CONFIG if a file of the place is missing. */
export function connect(place: RedisPlace): Client {
  const { kind, nodes, database } = place;
  const options = {
    ...(place.username === "" ? {} : { username: place.username }),
    ...(place.password === "" ? {} : { password: place.password }),
    ...(place.tls === undefined ? {} : { tls: readTlsFiles(place.tls) }),
    connectTimeout: CONTACT_MS,
    commandTimeout: CONTACT_MS,
    disconnectTimeout: FAREWELL_MS,
    // What was on its way when a connection broke may have been done: only we know which calls may be made again.
    autoResendUnfulfilledCommands: false,
    // And they are told at once: with null they would wait out the time that answers have.
    maxRetriesPerRequest: 0,
    // A former master that has become a replica refuses writes: look for the new one.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  } satisfies RedisOptions;
  const own = { ...options, enableOfflineQueue: false, lazyConnect: true, retryStrategy: waitBefore };
  const [first = { host: "127.0.0.1", port: 6379 }] = nodes;
  if (kind === "single") return new Redis({ ...own, ...first, db: database });
  if (kind === "sentinel") {
    return new Redis({ ...own, db: database, ...sentinelOptions(place) });
  }
  return new Cluster([...nodes], {
    redisOptions: options,
    clusterRetryStrategy: waitBefore,
    enableOfflineQueue: false,
    lazyConnect: true,
    slotsRefreshTimeout: CONTACT_MS,
    enableAutoPipelining: false,
  });
}

function sentinelOptions({ nodes, master, sentinel, tls }: RedisPlace) {
  return {
    name: master,
    sentinels: [...nodes],
    sentinelRetryStrategy: waitBefore,
    sentinelCommandTimeout: CONTACT_MS,
    ...(sentinel.username === "" ? {} : { sentinelUsername: sentinel.username }),
    ...(sentinel.password === "" ? {} : { sentinelPassword: sentinel.password }),
    // Without the first the library would talk to the master in the clear, whatever `tls` says.
    ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: readTlsFiles(tls) }),
  } satisfies RedisOptions;
}

/** What is not named is left to Node, which trusts the usual authorities and those of NODE_EXTRA_CA_CERTS. */
function readTlsFiles(files: NonNullable<RedisPlace["tls"]>): Record<string, Buffer> {
  const named = Object.entries(files).filter(([, path]) => path !== "");
  return Object.fromEntries(
    named.map(([name, path]) => [name, readTlsFile(name, path, { op: "frontier.open", setting: "TRAWL_BROKER" })]),
  );
}

/** Whether a port answers in plain words, or begins a TLS handshake; what went wrong where not even a connection came. */
export type Probe = (at: { host: string; port: number }, how: "plain" | "tls") => Promise<"answers" | "silent" | Error>;

/** Sends no password, and looks at no certificate: nothing is told to whoever it may be. */
export const probe: Probe = async (at, how) => {
  const client = new Redis({
    ...at,
    ...(how === "plain" ? {} : { tls: { rejectUnauthorized: false } }),
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: PROBE_MS,
    commandTimeout: PROBE_MS,
    disconnectTimeout: FAREWELL_MS,
    retryStrategy: () => null,
  });
  let isConnected = false;
  let trouble: NodeJS.ErrnoException | undefined;
  client.on("connect", () => {
    isConnected = true;
  });
  client.on("error", (error) => {
    trouble = error;
  });
  try {
    await client.ping();
    return "answers";
  } catch (error) {
    // A server that wants a password answers, too; and so does one that wants a certificate of ours.
    if ((error as Error).name === "ReplyError" || (how === "tls" && isConnected)) return "answers";
    return isConnected || trouble === undefined ? "silent" : trouble;
  } finally {
    client.disconnect();
  }
};

/** Called whenever a connection to a server ends, of a cluster to any of its nodes. */
export function onDisconnect(client: Client, call: () => void): void {
  client.on("close", call);
  client.on("+node", (node: Redis) => node.on("close", call));
}

/** Called with the reason when a server does not let us in; the library itself would try again for ever. */
export function onRefusal(client: Client, call: (error: Error) => void): void {
  const look = (error: Error) => isRefusal(error) && call(error);
  client.on("error", look);
  client.on("node error", look);
}

/** A wrong password, or a right that is missing. */
export function isRefusal(error: unknown): boolean {
  return /\b(NOAUTH|WRONGPASS|NOPERM)\b|invalid username|unknown command/i.test((error as Error).message);
}

/** Whether a call that failed like this may have been made all the same, and is worth making again. */
export function isLostContact(error: unknown): boolean {
  const { name, message } = error as Error;
  return (
    name === "ClusterAllFailedError" ||
    name === "MaxRetriesPerRequestError" ||
    /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|UNBLOCKED|NOREPLICAS)\b/.test(message) ||
    /ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN/.test(message) ||
    SAID_BY_LIBRARY.some((words) => message.includes(words))
  );
}

/** What the library begins with where it only says that there is no connection, and not why. */
export const SAYS_NOT_WHY = [
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

/** What the library itself says where contact is lost; a test holds them to its source. */
export const SAID_BY_LIBRARY = [...SAYS_NOT_WHY, "Command timed out", "Too many Cluster redirections"];

/** Whether the server had not even begun with it. */
export function wasNeverSent(error: unknown): boolean {
  const { message } = error as Error;
  return /^(LOADING|CLUSTERDOWN|READONLY)\b|isn't writeable|Cluster isn't ready/.test(message);
}

/** A right that is missing, met by a script: before 7.2 a server does not say which. */
export function isDeniedInScript(error: unknown): boolean {
  return /user executing the script can't run|ACL failure in script/.test((error as Error).message);
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
