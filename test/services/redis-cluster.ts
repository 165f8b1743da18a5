/** Starts a real Redis Cluster for tests: nodes on loopback, slots divided evenly, no replicas. */
import type { ProgramName } from "./debian-programs.mjs";
import { findFreePort } from "./free-port.ts";
import { type RedisOptions, type RedisServer, startRedis } from "./redis.ts";
import { withRedis } from "./redis-client.ts";
import { waitUntil } from "./wait-until.ts";

export type ClusterOptions = { nodes: number; program?: ProgramName; appendonly?: "always" | "everysec" | "no" };

export type RedisCluster = {
  /** All nodes: `redis+cluster://127.0.0.1:1,127.0.0.1:2`. */
  url: string;
  nodes: readonly RedisServer[];
  /** Resolves when every node sees all slots served, for example after a restart of a node. */
  waitUntilWhole(): Promise<void>;
  stop(): Promise<void>;
};

type Member = { server: RedisServer; busPort: number };

const SLOTS = 16_384;
/** The timeout for a complete cluster. New nodes always refuse commands for their first two seconds. */
const WHOLE_MS = 30_000;

/** Resolves when every node sees all slots served. */
export async function startCluster({ nodes: count, ...options }: ClusterOptions): Promise<RedisCluster> {
  const members: Member[] = [];
  const stop = async () => {
    await Promise.all(members.map(({ server }) => server.stop()));
  };
  try {
    // One after the other: two nodes that start at once may choose the same port.
    for (let made = 0; made < count; made++) members.push(await startMember(options));
    await join(members);
    await waitUntilWhole(members);
  } catch (cause) {
    await stop();
    throw cause;
  }
  const nodes = members.map(({ server }) => server);
  const url = `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  return { url, nodes, waitUntilWhole: () => waitUntilWhole(members), stop };
}

async function startMember(options: RedisOptions): Promise<Member> {
  const busPort = await findFreePort();
  const flags = ["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--cluster-node-timeout", "2000"];
  return { server: await startRedis({ ...options, args: flags }), busPort };
}

async function join(members: readonly Member[]): Promise<void> {
  for (const [index, { server }] of members.entries()) {
    await withRedis(server.port, async (redis) => {
      const [first, next] = [index, index + 1].map((at) => Math.floor((at * SLOTS) / members.length)) as [
        number,
        number,
      ];
      await redis.call("CLUSTER", "ADDSLOTSRANGE", first, next - 1);
      // Nodes with equal epochs would first have to resolve the conflict.
      await redis.call("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
      for (const other of members.slice(0, index)) {
        await redis.call("CLUSTER", "MEET", "127.0.0.1", other.server.port, other.busPort);
      }
    });
  }
}

async function waitUntilWhole(members: readonly Member[]): Promise<void> {
  const isWhole = async () => {
    const views = await Promise.all(members.map(({ server }) => describeCluster(server.port)));
    return views.every(
      (view) => /^cluster_state:ok\r?$/m.test(view) && view.includes(`cluster_known_nodes:${members.length}\r\n`),
    );
  };
  if (!(await waitUntil(isWhole, WHOLE_MS))) throw new Error(`the cluster was not complete after ${WHOLE_MS} ms`);
}

async function describeCluster(port: number): Promise<string> {
  return String(await withRedis(port, (redis) => redis.call("CLUSTER", "INFO")));
}
