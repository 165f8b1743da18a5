/** Steps over several shards that end half way: their process dies, or a shard is out of its reach. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { NewTask } from "../../src/domain/task.ts";
import type { Broker } from "../../src/frontier/redis/broker.ts";
import { callerTime } from "../../src/frontier/redis/broker-time.ts";
import { createShards, type Shard } from "../../src/frontier/redis/shards.ts";
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
import { auditShard } from "../model/redis-books.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { type RedisCluster, startCluster } from "../services/redis-cluster.ts";
import { withRedis } from "../services/redis-talk.ts";
import { waitUntil } from "../services/wait-until.ts";
import { createStage, type Stage } from "./stage.ts";

const SHARDS = 3;
const shards = createShards(
  { broker: {} as Broker, clock: systemClock(), timeOf: callerTime, caller: "" },
  { prefix: "any", shards: SHARDS, time: "broker" },
);
const HOME = shards.home("job");
const OTHERS = [0, 1, 2].filter((index) => index !== HOME.index);
/** Four on each shard. */
const EVERYWHERE = shards.all.flatMap((shard) => tasksOn(shard, 4));

function tasksOn(shard: Shard, count: number): NewTask[] {
  const tasks = Array.from({ length: 50 }, (_, nth) => aTask(`https://site-${nth}.test/`));
  return tasks.filter(({ site }) => shards.ofSite(site) === shard).slice(0, count);
}

describe("a step over several shards that ends half way", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  /** A handle that reaches shards only as long as it is let: what it cannot do is left as by a process that died. */
  async function open() {
    const stage = createStage(server.url, { shards: SHARDS });
    const user = stage.prefix;
    const reach = async (...indexes: number[]) => {
      const keys = indexes.map((index) => `~${stage.prefix}:{${index}}:*`);
      const all = indexes.map((index) => `~${stage.prefix}:{${index}}`);
      const rights = ["on", "nopass", "resetkeys", ...keys, ...all, "&*", "+@all"];
      await withRedis(server.port, (redis) => redis.call("ACL", "SETUSER", user, ...rights));
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
    it(`F12 is a pause, a cancel or a change of priority that the next reaper carries on to shard ${missing}`, async () => {
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
      // Less urgent than the job has become, more than it was: on no shard may it go first.
      const rivals = [HOME.index, missing].flatMap((index) => tasksOn(shards.all[index] as Shard, 1));
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

  it("F12 gives way to what was decided later, however late it is carried on", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await reach(HOME.index);
    await expect(weak.pause("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });

    await other.resume("job");
    await reapAll(other);

    expect(await grantsOf(other)).toHaveLength(EVERYWHERE.length);
  });

  it("F11 is a seal that a reaper carries on, and the job ends", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await reach(HOME.index);
    await expect(weak.seal("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });

    await settleAll(other, await grantsOf(other));
    await reapAll(other);

    expect(await viewOf(other)).toMatchObject({ state: "finished", counts: { done: EVERYWHERE.length } });
  });

  it("F12 is a seal that may be made again, as by a submitter that goes on", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await settleAll(other, await grantsOf(other));
    await reach(...OTHERS);
    await expect(weak.seal("job")).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });

    expect((await other.enqueue("job", EVERYWHERE)).duplicates).toBe(EVERYWHERE.length);
    expect(await other.seal("job")).toBe(true);
  });

  it("F2 is a lease call that has what the shards that are there have to give, whichever is asked first", async () => {
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

  it("F2 is no lease call that was asked for few: it looks for them on every shard, and takes no more", async () => {
    const { other } = await open();
    const [lonely] = EVERYWHERE;
    await submit(other, aJob(), lonely === undefined ? [] : [lonely]);
    for (let nth = 0; nth < SHARDS; nth++) await other.release([await oneGrant(other)]);
    const more = Array.from({ length: 50 }, (_, nth) => ({ ...lonely, url: `${lonely?.url}${nth}` }) as NewTask);
    await other.enqueue("job", [...EVERYWHERE, ...more]);

    for (const max of [1, 2, 4, 7, 30]) {
      const grants = await grantsOf(other, { max });
      expect(grants).toHaveLength(max);
      await other.release(grants);
    }
    expect(await grantsOf(other)).toHaveLength(62);
  });

  it("F8 settles, releases and abandons on the shards that are there", async () => {
    const { stage, weak, other, reach } = await open();
    const more = EVERYWHERE.map((task) => ({ ...task, url: `${task.url}more` }));
    await submit(other, aJob(), [...EVERYWHERE, ...more]);
    const grants = await grantsOf(weak, { worker: "w" });
    const isHome = ({ site }: { site: string }) => shards.ofSite(site) === HOME;
    const homeFirst = [...grants.filter(isHome), ...grants.filter((grant) => !isHome(grant))];
    const [some, rest] = [0, 1].map((half) => homeFirst.filter((_, nth) => nth % 2 === half));
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

  it("F6 hands expired leases back on the shards that are there", async () => {
    const { weak, other, reach } = await open();
    await submit(other, aJob(), EVERYWHERE);
    await grantsOf(weak, { leaseMs: 0 });
    await reach(...OTHERS);

    await expect(weak.reap(100)).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });

    expect(await countsOf(other)).toEqual({ submitted: 12, leased: 4, queued: 8 });
  });
});

/** The client gives a server five seconds for an answer; a call that asks all shards at once takes no longer than that. */
const HUNG_MS = 10_000;

describe("a node of a cluster that takes connections and does not answer", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 3 });
    // Else its neighbours refuse as well, once they have noticed.
    const words = ["SET", "cluster-require-full-coverage", "no"] as const;
    for (const { port } of cluster.nodes) await withRedis(port, (redis) => redis.config(...words));
  });
  afterAll(() => cluster.stop());

  /** Stops the node that has shard 0; `goOn` lets it go on, `port` is of the node that has the others. */
  async function hang(prefix: string): Promise<{ goOn: () => void; port: number }> {
    const owned = await Promise.all(cluster.nodes.map(({ port }) => ownedBy(port, prefix)));
    const nodeWith = (...indexes: number[]) => {
      const node = cluster.nodes[owned.findIndex((own) => own.join() === indexes.join())];
      if (node === undefined) throw new Error(`the shards lie otherwise: ${JSON.stringify(owned)}`);
      return node;
    };
    const { pid } = nodeWith(0);
    const { port } = nodeWith(1, 2);
    const goOn = () => void process.kill(pid, "SIGCONT");
    onTestFinished(goOn);
    process.kill(pid, "SIGSTOP");
    return { goOn, port };
  }

  async function ownedBy(port: number, prefix: string): Promise<number[]> {
    const owns = async (index: number) =>
      withRedis(port, (redis) => redis.exists(`${prefix}:{${index}}`)).then(
        () => [index],
        () => [], // MOVED: another node's
      );
    return (await Promise.all([0, 1, 2].map(owns))).flat();
  }

  it("F2 F6 keeps nobody from the work of the others, nor from keeping what is leased there", async () => {
    const stage = createStage(cluster.url, { shards: SHARDS, patienceMs: 60_000 });
    const frontier = await stage.open();
    await submit(frontier, aJob(), EVERYWHERE);
    const held = await grantsOf(frontier, { max: 6 });
    const isThere = ({ site }: { site: string }) => shards.ofSite(site).index !== 0;
    const healthy = held.filter(isThere);
    expect(held.length - healthy.length).toBeGreaterThan(0);
    const { goOn, port } = await hang(stage.prefix);

    const startAt = performance.now();
    const [more, kept] = await Promise.all([grantsOf(frontier), frontier.extend(healthy, 60_000)]);
    expect(performance.now() - startAt).toBeLessThan(HUNG_MS);
    expect(more).toHaveLength(8 - healthy.length);
    expect(more.every(isThere)).toBe(true);
    expect(kept).toEqual(healthy.map(() => true));

    // With all of them in one call, too, those that can be are kept: until well after their first lease.
    await expect(frontier.extend([...held, ...more], 120_000)).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
    expect(performance.now() - startAt).toBeLessThan(2 * HUNG_MS);
    const ends = [1, 2].map((index) => `${stage.prefix}:{${index}}:expiry`);
    for (const key of ends) {
      const [, soonest] = await withRedis(port, (redis) => redis.zrange(key, 0, 0, "WITHSCORES"));
      expect(Number(soonest)).toBeGreaterThan(Date.now() + 90_000);
    }

    goOn();
    await cluster.waitUntilWhole();
    await settleAll(frontier, [...held, ...more]);
    // The node has granted the rest to calls that nobody waits for any more: it is handed back first.
    const isDone = async () => {
      await settleAll(frontier, await grantsOf(frontier));
      return (await viewOf(frontier)).counts.done === EVERYWHERE.length;
    };
    expect(await waitUntil(isDone, HUNG_MS)).toBe(true);
  }, 60_000);
});
