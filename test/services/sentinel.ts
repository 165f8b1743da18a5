/**
 * Starts a master, a replica and sentinels for tests, on loopback. The sentinels promote the replica if the master is
 * lost.
 */
import { type RedisServer, startRedis } from "./redis.ts";
import { withRedis } from "./redis-client.ts";
import { waitUntil } from "./wait-until.ts";

export type SentinelOptions = {
  sentinels: number;
  appendonly?: "always" | "everysec" | "no";
  /** Further arguments of master and replica. */
  args?: readonly string[];
};

export type SentinelGroup = {
  /** `redis+sentinel://127.0.0.1:1,127.0.0.1:2/trawl-master`. */
  url: string;
  /** The first is master at the start. */
  servers: readonly [RedisServer, RedisServer];
  sentinels: readonly RedisServer[];
  /** The port of the current master, according to the sentinels. */
  findMaster(): Promise<number>;
  /** Resolves when the sentinels and the server itself report `port` as master. */
  waitForMaster(port: number): Promise<void>;
  stop(): Promise<void>;
};

/** Address, port, acknowledged offset. */
type Ack = [string, string, string];

const NAME = "trawl-master";
/** A server that does not answer for so long counts as down. */
const DOWN_MS = 500;
const READY_MS = 30_000;

/** Resolves when the replica has caught up and every sentinel knows it. */
export async function startSentinelGroup(options: SentinelOptions): Promise<SentinelGroup> {
  const running: RedisServer[] = [];
  const stop = async () => {
    await Promise.all(running.map((server) => server.stop()));
  };
  const start = async (...starting: Parameters<typeof startRedis>) => {
    const server = await startRedis(...starting);
    running.push(server);
    return server;
  };
  try {
    const { appendonly = "no", args = [] } = options;
    // By default a master waits for more replicas before it sends its first copy.
    const own = { appendonly, args: ["--repl-diskless-sync-delay", "0", ...args] };
    const master = await start(own);
    const replica = await start({ ...own, args: [...own.args, "--replicaof", `127.0.0.1 ${master.port}`] });
    const sentinels: RedisServer[] = [];
    for (let made = 0; made < options.sentinels; made++) sentinels.push(await start({ sentinel: true }));
    for (const { port } of sentinels) await watch(port, master.port, sentinels.length);
    const group = groupOf([master, replica], sentinels, stop);
    await ready(() => isFollowed(master.port), "the replica does not follow");
    await ready(() => areWatching(sentinels, replica.port), "the sentinels did not find the replica");
    return group;
  } catch (cause) {
    await stop();
    throw cause;
  }
}

function groupOf(
  servers: readonly [RedisServer, RedisServer],
  sentinels: readonly RedisServer[],
  stop: () => Promise<void>,
): SentinelGroup {
  const [first] = sentinels;
  if (first === undefined) throw new Error("a group needs a sentinel");
  const findMaster = () => masterOf(first.port);
  const waitForMaster = (port: number) =>
    ready(async () => (await findMaster()) === port && (await roleOf(port)) === "master", `${port} is not master`);
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${NAME}`,
    servers,
    sentinels,
    findMaster,
    waitForMaster,
    stop,
  };
}

async function watch(sentinel: number, master: number, sentinels: number): Promise<void> {
  const quorum = Math.floor(sentinels / 2) + 1;
  await withRedis(sentinel, async (redis) => {
    await redis.call("SENTINEL", "MONITOR", NAME, "127.0.0.1", master, quorum);
    await redis.call("SENTINEL", "SET", NAME, "down-after-milliseconds", DOWN_MS, "failover-timeout", 2000);
  });
}

async function query(sentinel: number, command: string): Promise<unknown> {
  return withRedis(sentinel, (redis) => redis.call("SENTINEL", command, NAME));
}

async function masterOf(sentinel: number): Promise<number> {
  return Number(((await query(sentinel, "GET-MASTER-ADDR-BY-NAME")) as string[])[1]);
}

async function roleOf(port: number): Promise<string> {
  const [role] = (await withRedis(port, (redis) => redis.call("ROLE"))) as string[];
  return role ?? "";
}

/** Whether every sentinel knows the replica: only then can they promote it. */
async function areWatching(sentinels: readonly RedisServer[], replica: number): Promise<boolean> {
  for (const { port } of sentinels) {
    const known = JSON.stringify(await query(port, "REPLICAS"));
    if (!known.includes(`127.0.0.1:${replica}`) || /"(s_down|o_down|disconnected)/.test(known)) return false;
  }
  return true;
}

/** Whether a replica has all writes of the master. A replica that has just connected has none. */
async function isFollowed(master: number): Promise<boolean> {
  const [, offset, replicas = []] = (await withRedis(master, (redis) => redis.call("ROLE"))) as [string, number, Ack[]];
  return replicas.some(([, , acked]) => Number(acked) > 0 && Number(acked) >= Number(offset));
}

async function ready(condition: () => Promise<boolean>, message: string): Promise<void> {
  if (!(await waitUntil(condition, READY_MS, 20))) throw new Error(message);
}
