/** Idle workers are woken by messages, each no more often than needed. Nothing here polls. */
import { setMaxListeners } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SUSPECT_AFTER } from "../../src/frontier/frontier.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  grantsOf,
  SUSPECTS,
  settleAll,
  settleAndReturn,
  settlementOf,
  submit,
  tasksAt,
} from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { type RedisCluster, startCluster } from "../services/redis-cluster.ts";
import { waitUntil } from "../services/wait-until.ts";
import { createStage, openMany } from "./stage.ts";

const clock = systemClock();
const TIMEOUT_MS = 20_000;

/** Leases nothing, and waits. */
async function idle(
  frontier: AnyFrontier,
  worker: string,
  queues: readonly string[] = ["fetch"],
): Promise<{ woken: Promise<void> }> {
  const { grants, nextDueAt } = await frontier.lease(aRequest({ worker, queues, max: 1 }));
  expect(grants).toEqual([]);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const woken = frontier.waitForWork(nextDueAt ?? Number.MAX_SAFE_INTEGER, signal);
  return { woken: woken.then(() => expect(signal.aborted, "was not woken").toBe(false)) };
}

describe("idle workers", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  /** Messages that scripts have published since the last call. */
  async function countWakes(): Promise<number> {
    return withRedis(server.port, async (redis) => {
      const [, count = "0"] = /^cmdstat_publish:calls=(\d+)/m.exec(await redis.info("commandstats")) ?? [];
      await redis.config("RESETSTAT");
      return Number(count);
    });
  }

  it("are woken by a submission of another process", async () => {
    const [worker, submitter] = (await openMany(createStage(server.url), 2)) as [AnyFrontier, AnyFrontier];
    await submitter.createJob(aJob());
    const delays: number[] = [];
    for (let nth = 0; nth < 20; nth++) {
      const { woken } = await idle(worker, "w");
      const sentAt = clock.now();
      await Promise.all([submitter.enqueue("job", [aTask(`https://a.test/${nth}`)]), woken]);
      delays.push(clock.now() - sentAt);
      const grants = await grantsOf(worker);
      expect(grants).toHaveLength(1);
      await settleAll(worker, grants);
    }
    delays.sort((one, other) => one - other);
    console.info(`from a submission to the waking of another handle: median ${delays[10]?.toFixed(2)} ms`);
    expect(delays[10]).toBeLessThan(TIMEOUT_MS);
  });

  it("are woken by tasks that another process releases, resumes or discovers", async () => {
    const [worker, other] = (await openMany(createStage(server.url), 2)) as [AnyFrontier, AnyFrontier];
    await submit(other, aJob(), tasksAt("a.test", 1));
    const links = ["b", "c", "d"].map((name) => aTask(`https://${name}.test/`));
    const causes: ((held: Awaited<ReturnType<typeof grantsOf>>) => Promise<unknown>)[] = [
      (held) => other.release(held),
      () => other.abandon("other"),
      async (held) => {
        await other.pause("job");
        await other.release(held);
        await other.resume("job");
      },
      // The worker that settles leases the first link itself.
      (held) => other.settle(held.map((grant) => settlementOf(grant, { discovered: links }))),
    ];
    for (const cause of causes) {
      const held = await grantsOf(other, { worker: "other" });
      expect(held).toHaveLength(1);
      const { woken } = await idle(worker, "w");
      await cause(held);
      await woken;
    }
    expect(await grantsOf(worker)).toHaveLength(links.length);
  });

  it("are woken by a single task of their queue, discovered by a worker that does not serve this queue", async () => {
    const [worker, other] = (await openMany(createStage(server.url), 2)) as [AnyFrontier, AnyFrontier];
    await submit(other, aJob(), tasksAt("a.test", 2));
    const held = await grantsOf(other, { worker: "other" });
    for (const [nth, grant] of held.entries()) {
      const { woken } = await idle(worker, "w", ["parse"]);
      const found = aTask(`https://a.test/${nth}#parse`, { site: "#a.test", queue: "parse", kind: "parse" });
      await other.settle([settlementOf(grant, { discovered: [found] })]);
      await woken;
      await settleAll(worker, await grantsOf(worker, { queues: ["parse"] }));
    }
  });

  it("are woken for suspects of their queue", async () => {
    const [worker, other] = (await openMany(createStage(server.url), 2)) as [AnyFrontier, AnyFrontier];
    await submit(other, aJob(), tasksAt("a.test", 1));
    for (let crash = 0; crash < SUSPECT_AFTER; crash++) {
      expect(await grantsOf(other, { worker: "other" })).toHaveLength(1);
      const { woken } = await idle(worker, "w");
      await other.abandon("other");
      await woken;
    }
    const { grants, aloneDueAt } = await worker.lease(aRequest());
    expect(grants).toEqual([]);
    expect(aloneDueAt).toBeLessThanOrEqual(clock.now());
    expect(await grantsOf(worker, SUSPECTS)).toHaveLength(1);
  });

  it("are woken one at a time for one URL, and a few for many sites", async () => {
    const stage = createStage(server.url);
    const workers = await openMany(stage, 20);
    const submitter = await stage.open();
    await submitter.createJob(aJob());
    const woken = new Set<number>();
    const waits: Promise<void>[] = [];
    for (const [nth, frontier] of workers.entries()) {
      waits.push((await idle(frontier, `w${nth}`)).woken.then(() => void woken.add(nth)));
    }
    await countWakes();

    await submitter.enqueue("job", [aTask("https://a.test/")]);
    await Promise.race(waits);
    expect(await countWakes()).toBe(1);
    expect(woken.size).toBe(1);

    await submitter.enqueue(
      "job",
      Array.from({ length: 100 }, (_, nth) => aTask(`https://site-${nth}.test/`)),
    );
    const wakes = await countWakes();
    expect(wakes).toBeGreaterThan(1);
    expect(wakes).toBeLessThanOrEqual(8);
    expect(await waitUntil(() => woken.size === 1 + wakes, TIMEOUT_MS)).toBe(true);
    for (const frontier of workers) await frontier.close();
  });

  it("that have ended do not receive the messages of others", async () => {
    const stage = createStage(server.url);
    const [alive, submitter] = (await openMany(stage, 2)) as [AnyFrontier, AnyFrontier];
    const closed = await openMany(stage, 3);
    await submitter.createJob(aJob());
    const { woken } = await idle(alive, "alive");
    // The last one to lease is woken first.
    for (const [nth, frontier] of closed.entries()) await frontier.lease(aRequest({ worker: `doomed-${nth}` }));
    for (const frontier of closed) await frontier.close();
    const listeners = async () =>
      withRedis(server.port, (redis) => redis.call("PUBSUB", "CHANNELS", `${stage.prefix}*`) as Promise<string[]>);
    expect(await waitUntil(async () => (await listeners()).length === 2, TIMEOUT_MS)).toBe(true);

    await submitter.enqueue("job", [aTask("https://a.test/")]);
    await woken;

    expect(await grantsOf(alive)).toHaveLength(1);
  });

  it("do not all lease when one slow site comes due", async () => {
    const stage = createStage(server.url);
    const workers = await openMany(stage, 20);
    const [first] = workers as [AnyFrontier];
    const pages = 8;
    const policy = { intervalMs: 150, burst: 1, perSite: 1 };
    await submit(first, aJob({ policy }), tasksAt("slow.test", pages));
    await first.seal("job");
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    let leaseCalls = 0;
    let done = 0;

    async function work(frontier: AnyFrontier, worker: string): Promise<void> {
      while (!over.signal.aborted) {
        leaseCalls += 1;
        const answer = await frontier.lease(aRequest({ worker, max: 1 }));
        const { grants, nextDueAt } = answer;
        if (grants.length > 0) await settleAndReturn(frontier, answer);
        done += grants.length;
        if (done === pages) over.abort();
        if (grants.length === 0) await frontier.waitForWork(nextDueAt ?? Number.MAX_SAFE_INTEGER, over.signal);
      }
    }
    await Promise.all(workers.map((frontier, nth) => work(frontier, `w${nth}`)));

    const perPage = (leaseCalls - workers.length) / pages;
    console.info(`lease calls of 20 idle handles for each page of one slow site: ${perPage.toFixed(1)}`);
    // One worker leases when the site comes due, and once more after it has settled. On a busy machine a few others do
    // too.
    expect(perPage).toBeLessThan(workers.length / 4);
  });
});

describe("idle workers on a cluster", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 3 });
  });
  afterAll(() => cluster.stop());

  it("are woken from any node", async () => {
    const stage = createStage(cluster.url, { shards: 4 });
    const [worker, submitter] = (await openMany(stage, 2)) as [AnyFrontier, AnyFrontier];
    await submitter.createJob(aJob());
    for (let nth = 0; nth < 12; nth++) {
      const { woken } = await idle(worker, "w");
      await submitter.enqueue("job", [aTask(`https://site-${nth}.test/`)]);
      await woken;
      await settleAll(worker, await grantsOf(worker));
    }
    expect((await submitter.findJob("job"))?.counts.done).toBe(12);
  });
});
