/** A cluster with unequal nodes: one is full, or has fewer permissions. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { NewTask } from "../../src/domain/task.ts";
import { createShards } from "../../src/frontier/redis/cluster/shards.ts";
import type { BrokerClient } from "../../src/frontier/redis/connection/broker-client.ts";
import { callerClock } from "../../src/frontier/redis/connection/broker-clock.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { aJob, aTask, countsOf } from "../contracts/frontier/makers.ts";
import { withRedis } from "../services/redis-client.ts";
import { type RedisCluster, startCluster } from "../services/redis-cluster.ts";
import { waitUntil } from "../services/wait-until.ts";
import { createStage } from "./stage.ts";

const OPTIONS = { prefix: "any", shards: 2, time: "broker" } as const;
const shards = createShards(
  { broker: {} as BrokerClient, clock: systemClock(), timeOf: callerClock, caller: "" },
  OPTIONS,
);

/** `count` tasks for each shard, alternating. */
function tasksInTurn(count: number): NewTask[] {
  const tasks = Array.from({ length: count * 10 }, (_, nth) => aTask(`https://site-${nth}.test/`));
  const [even, odd] = [0, 1].map((index) => tasks.filter(({ site }) => shards.ofSite(site).index === index));
  return Array.from({ length: count }, (_, nth) => [even?.[nth], odd?.[nth]] as NewTask[]).flat();
}

describe("a cluster of unequal nodes", () => {
  let cluster: RedisCluster;
  /** The node that has shard 1 and not shard 0. */
  let port: number;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 3 });
    port = await portOf("any:{1}");
    expect(port).not.toBe(await portOf("any:{0}"));
  });
  afterAll(() => cluster.stop());

  async function portOf(key: string): Promise<number> {
    for (const node of cluster.nodes) {
      const owns = await withRedis(node.port, (redis) => redis.exists(key)).then(
        () => true,
        () => false, // MOVED: the key is on another node
      );
      if (owns) return node.port;
    }
    throw new Error(`no node has ${key}`);
  }

  it("F13 accepts URLs up to the first one of a full shard, and none twice in repeated calls", async () => {
    const limit = (bytes: number) => withRedis(port, (redis) => redis.config("SET", "maxmemory", bytes));
    onTestFinished(async () => void (await limit(0)));
    const frontier = await createStage(cluster.url, { shards: 2 }).open();
    await frontier.createJob(aJob());
    const tasks = tasksInTurn(4);
    await limit(1);

    const first = await frontier.enqueue("job", tasks);
    expect(first).toMatchObject({ queued: 4, full: { taken: 1 } });
    const rest = tasks.slice(1);
    for (let nth = 0; nth < 3; nth++) {
      expect(await frontier.enqueue("job", rest)).toMatchObject({ queued: 0, duplicates: 0, full: { taken: 0 } });
    }
    // URLs of the other shard alone are not delayed.
    expect(await frontier.enqueue("job", [aTask(`${tasks[0]?.url}more`)])).toMatchObject({ queued: 1 });

    await limit(0);
    expect(await frontier.enqueue("job", rest)).toEqual({ queued: 4, duplicates: 3, refused: [] });
    expect(await countsOf(frontier)).toEqual({ submitted: 12, queued: 9, duplicate: 3 });
  });

  it("refuses calls while any of its nodes denies a command", async () => {
    for (const node of cluster.nodes) {
      const permissions = ["on", ">secret", "~*", "&*", "+@all", ...(node.port === port ? ["-zpopmax"] : [])];
      await withRedis(node.port, (redis) => redis.call("ACL", "SETUSER", "weak", ...permissions));
    }
    const url = cluster.url.replace("://", "://weak:secret@");
    const frontier = await createStage(url, { shards: 2 }).open();

    const refused = { code: "BROKER_UNREACHABLE", detail: { missing: ["zpopmax"] } };
    await expect(frontier.createJob(aJob())).rejects.toMatchObject(refused);
    await withRedis(port, (redis) => redis.call("ACL", "SETUSER", "weak", "+zpopmax"));
    expect(await waitUntil(() => frontier.createJob(aJob()).then(() => true), 5_000)).toBe(true);
  });
});
