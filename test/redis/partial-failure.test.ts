/** Operations on several shards that end in the middle: the process is killed, or a shard is unreachable. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { NewTask } from "../../src/domain/task.ts";
import { createShards, type Shard } from "../../src/frontier/redis/cluster/shards.ts";
import type { BrokerClient } from "../../src/frontier/redis/connection/broker-client.ts";
import { callerClock } from "../../src/frontier/redis/connection/broker-clock.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  countsOf,
  grantsOf,
  oneGrant,
  settleAll,
  settlementOf,
  submit,
  viewOf,
} from "../contracts/frontier/makers.ts";
import { auditShard } from "../model/redis-audit.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { type RedisCluster, startCluster } from "../services/redis-cluster.ts";
import { waitUntil } from "../services/wait-until.ts";
import { createStage, type Stage } from "./stage.ts";

const SHARDS = 3;
const shards = createShards(
  { broker: {} as BrokerClient, clock: systemClock(), timeOf: callerClock, caller: "" },
  { prefix: "any", shards: SHARDS, time: "broker" },
);
const OWNER = shards.ownerOf("job");
const OTHERS = [0, 1, 2].filter((index) => index !== OWNER.index);
/** Four tasks on each shard. */
const EVERYWHERE = shards.all.flatMap((shard) => tasksOn(shard, 4));

function tasksOn(shard: Shard, count: number): NewTask[] {
  const tasks = Array.from({ length: 50 }, (_, nth) => aTask(`https://site-${nth}.test/`));
  return tasks.filter(({ site }) => shards.ofSite(site) === shard).slice(0, count);
}

describe("an operation on several shards that ends in the middle", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  /** A handle that loses access to some shards, like a process that is killed in the middle. */
  async function open() {
    const stage = createStage(server.url, { shards: SHARDS });
    const user = stage.prefix;
    const reach = async (...indexes: number[]) => {
      const keys = indexes.map((index) => `~${stage.prefix}:{${index}}:*`);
      const all = indexes.map((index) => `~${stage.prefix}:{${index}}`);
      const permissions = ["on", "nopass", "resetkeys", ...keys, ...all, "&*", "+@all"];
      await withRedis(server.port, (redis) => redis.call("ACL", "SETUSER", user, ...permissions));
    };
    await reach(0, 1, 2);
    const weak = await stage.open({ url: `redis://${user}:any@127.0.0.1:${server.port}` });
    const other = await stage.open();
    return { stage, weak, other, reach };
  }

  async function reapAll(frontier: AnyFrontier): Promise<void> {
    for (let nth = 0; nth < 3; nth++) while ((await frontier.reap(100)) > 0);
  }

  async function audit({ prefix }: Stage): Promise<string[]> {
    const wrong = await Promise.all([0, 1, 2].map((index) => auditShard(server.port, `${prefix}:{${index}}`)));
    return wrong.flat();
  }

  for (const missing of OTHERS) {
    it(`F12 is completed on shard ${missing} by the next reaper: pause, cancel, change of priority`, async () => {
      const { stage, weak, other, reach } = await open();
      await submit(other, aJob(), EVERYWHERE);
      const without = [0, 1, 2].filter((index) => index !== missing);

      await reach(...without);
      await expect(weak.pause("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
      await reapAll(other);
      expect(await grantsOf(other)).toEqual([]);

      await expect(weak.resume("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
      await expect(weak.setPriority("job", 1)).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
      await reapAll(other);
      const grants = await grantsOf(other);
      expect(grants).toHaveLength(EVERYWHERE.length);
      await other.release(grants);
      // The priority of the rival is between the old and the new priority of the job, so no shard may grant tasks of
      // the rival first.
      const rivals = [OWNER.index, missing].flatMap((index) => tasksOn(shards.all[index] as Shard, 1));
      const urgent = rivals.map((task) => ({ ...task, url: `${task.url}rival`, priority: 2 }));
      await submit(other, aJob({ id: "rival", priority: 2 }), urgent);
      expect((await grantsOf(other, { max: 4 })).map(({ jobId }) => jobId)).not.toContain("rival");
      await other.abandon("worker");

      await expect(weak.cancel("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
      await reapAll(other);
      expect(await viewOf(other)).toMatchObject({ state: "cancelled", counts: { cancelled: EVERYWHERE.length } });
      expect((await viewOf(other)).finishedAt).toBeDefined();
      expect(await audit(stage)).toEqual([]);
    });
  }

  it("F12 does not override a later operation, however late it is completed", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await reach(OWNER.index);
    await expect(weak.pause("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });

    await other.resume("job");
    await reapAll(other);

    expect(await grantsOf(other)).toHaveLength(EVERYWHERE.length);
  });

  it("F11 is completed by a reaper if it is a seal, and the job ends", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await reach(OWNER.index);
    await expect(weak.seal("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });

    await settleAll(other, await grantsOf(other));
    await reapAll(other);

    expect(await viewOf(other)).toMatchObject({ state: "finished", counts: { done: EVERYWHERE.length } });
  });

  it("F12 can be repeated if it is a seal, as by a submitter that continues", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await settleAll(other, await grantsOf(other));
    await reach(...OTHERS);
    await expect(weak.seal("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });

    expect((await other.enqueue("job", EVERYWHERE)).duplicates).toBe(EVERYWHERE.length);
    expect(await other.seal("job")).toBe(true);
  });

  it("F2 leases tasks of the reachable shards, in any order of shards", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await weak.lease(aRequest({ max: 0 }));
    await reach(...OTHERS);

    for (let nth = 0; nth < SHARDS; nth++) {
      const grants = await grantsOf(weak);
      expect(grants).toHaveLength(8);
      await other.release(grants);
    }
  });

  it("F2 leases few tasks from all shards, and no more than requested", async () => {
    const { other } = await open();
    const [single] = EVERYWHERE;
    await submit(other, aJob(), single === undefined ? [] : [single]);
    for (let nth = 0; nth < SHARDS; nth++) await other.release([await oneGrant(other)]);
    const more = Array.from({ length: 50 }, (_, nth) => ({ ...single, url: `${single?.url}${nth}` }) as NewTask);
    await other.enqueue("job", [...EVERYWHERE, ...more]);

    for (const max of [1, 2, 4, 7, 30]) {
      const grants = await grantsOf(other, { max });
      expect(grants).toHaveLength(max);
      await other.release(grants);
    }
    expect(await grantsOf(other)).toHaveLength(62);
  });

  it("F8 settles, releases and abandons on the reachable shards", async () => {
    const { stage, weak, other, reach } = await open();
    const more = EVERYWHERE.map((task) => ({ ...task, url: `${task.url}more` }));
    await submit(other, aJob(), [...EVERYWHERE, ...more]);
    const grants = await grantsOf(weak, { worker: "w" });
    const isOnOwner = ({ site }: { site: string }) => shards.ofSite(site) === OWNER;
    const ownerFirst = [...grants.filter(isOnOwner), ...grants.filter((grant) => !isOnOwner(grant))];
    const [some, rest] = [0, 1].map((half) => ownerFirst.filter((_, nth) => nth % 2 === half));
    await reach(...OTHERS);
    const unreachable = { code: "BROKER_UNREACHABLE" };

    const settlements = (some ?? []).map((grant) => settlementOf(grant));
    await expect(weak.settle(settlements)).rejects.toMatchObject(unreachable);
    expect(await countsOf(other)).toEqual({ submitted: 24, done: 8, leased: 16 });
    await expect(weak.release((rest ?? []).slice(0, 8))).rejects.toMatchObject(unreachable);
    expect(await countsOf(other)).toEqual({ submitted: 24, done: 8, leased: 12, queued: 4 });
    await expect(weak.abandon("w")).rejects.toMatchObject(unreachable);
    expect(await countsOf(other)).toEqual({ submitted: 24, done: 8, leased: 8, queued: 8 });
    expect(await audit(stage)).toEqual([]);
  });

  it("F6 returns expired leases on the reachable shards", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await grantsOf(weak, { leaseMs: 0 });
    await reach(...OTHERS);

    await expect(weak.reap(100)).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });

    expect(await countsOf(other)).toEqual({ submitted: 12, leased: 4, queued: 8 });
  });
});

/** The client waits five seconds for an answer. A call to all shards in parallel takes no longer. */
const HUNG_MS = 10_000;

describe("a node of a cluster that accepts connections and does not answer", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 3 });
    // By default, the other nodes refuse commands once they have noticed that a node is down.
    const setting = ["SET", "cluster-require-full-coverage", "no"] as const;
    for (const { port } of cluster.nodes) await withRedis(port, (redis) => redis.config(...setting));
  });
  afterAll(() => cluster.stop());

  /** Suspends the node with shard 0. `resume` continues it; `port` is that of the node with the other shards. */
  async function suspend(prefix: string): Promise<{ resume: () => void; port: number }> {
    const owned = await Promise.all(cluster.nodes.map(({ port }) => ownedBy(port, prefix)));
    const nodeWith = (...indexes: number[]) => {
      const node = cluster.nodes[owned.findIndex((own) => own.join() === indexes.join())];
      if (node === undefined) throw new Error(`unexpected distribution of shards: ${JSON.stringify(owned)}`);
      return node;
    };
    const { pid } = nodeWith(0);
    const { port } = nodeWith(1, 2);
    const resume = () => void process.kill(pid, "SIGCONT");
    onTestFinished(resume);
    process.kill(pid, "SIGSTOP");
    return { resume, port };
  }

  async function ownedBy(port: number, prefix: string): Promise<number[]> {
    const owns = async (index: number) =>
      withRedis(port, (redis) => redis.exists(`${prefix}:{${index}}`)).then(
        () => [index],
        () => [], // MOVED: the key is on another node
      );
    return (await Promise.all([0, 1, 2].map(owns))).flat();
  }

  it("F2 F6 does not block tasks of other nodes, nor extending their leases", async () => {
    const stage = createStage(cluster.url, { shards: SHARDS, retryForMs: 60_000 });
    const frontier = await stage.open();
    await submit(frontier, aJob(), EVERYWHERE);
    const held = await grantsOf(frontier, { max: 6 });
    const isReachable = ({ site }: { site: string }) => shards.ofSite(site).index !== 0;
    const healthy = held.filter(isReachable);
    expect(held.length - healthy.length).toBeGreaterThan(0);
    const { resume, port } = await suspend(stage.prefix);

    const startAt = performance.now();
    const [more, kept] = await Promise.all([grantsOf(frontier), frontier.extend(healthy, 60_000)]);
    expect(performance.now() - startAt).toBeLessThan(HUNG_MS);
    expect(more).toHaveLength(8 - healthy.length);
    expect(more.every(isReachable)).toBe(true);
    expect(kept).toEqual(healthy.map(() => true));

    // One call for all leases extends the leases on other nodes, far beyond their original end.
    await expect(frontier.extend([...held, ...more], 120_000)).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
    expect(performance.now() - startAt).toBeLessThan(2 * HUNG_MS);
    const ends = [1, 2].map((index) => `${stage.prefix}:{${index}}:expiry`);
    for (const key of ends) {
      const [, soonest] = await withRedis(port, (redis) => redis.zrange(key, 0, 0, "WITHSCORES"));
      expect(Number(soonest)).toBeGreaterThan(Date.now() + 90_000);
    }

    resume();
    await cluster.waitUntilWhole();
    await settleAll(frontier, [...held, ...more]);
    // The node has granted the rest to calls that have timed out: those tasks are returned first.
    const isDone = async () => {
      await settleAll(frontier, await grantsOf(frontier));
      return (await viewOf(frontier)).counts.done === EVERYWHERE.length;
    };
    expect(await waitUntil(isDone, HUNG_MS)).toBe(true);
  });
});
