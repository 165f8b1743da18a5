/**
 * A worker dies before or after any single step of a webhook, with real brokers, a real store and a real endpoint, and the
 * next worker continues. Every record is delivered, each event has one body, and the end has one id.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type App, openApp } from "../../src/compose/app.ts";
import { createFetching } from "../../src/compose/worker.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { Config } from "../../src/config/schema.ts";
import { deliveryJobId } from "../../src/domain/webhook.ts";
import { createHttpPoster } from "../../src/fetch/http/http-poster.ts";
import type { Poster } from "../../src/fetch/poster.ts";
import { type Claim, claimOf } from "../../src/frontier/frontier.ts";
import { recordLine } from "../../src/store/export/record-line.ts";
import { resolveJob } from "../../src/submit/resolve-job.ts";
import { createDeliverer } from "../../src/webhook/deliver.ts";
import { processWebhook } from "../../src/webhook/process-webhook.ts";
import { registerWebhook } from "../../src/webhook/register-webhook.ts";
import { createWorkerMeter } from "../../src/worker/observe/worker-meter.ts";
import { aPageWrite } from "../contracts/store/page-write.ts";
import { newFolder } from "../e2e/folder.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { submitDirectly } from "../submit/submit-directly.ts";
import { type Received, type Receiver, startReceiver } from "./receiver.ts";

const SECRET = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const PAGES = 5;
const BATCH = 2;
const STEPS_MOST = 200;
const NEVER = new AbortController().signal;

const NOTHING_FOUND = { discovered: [], refusedLinks: 0, tally: { pages: 0, records: 0, invalid: 0, bytes: 0 } };

class Death extends Error {}

/** The worker dies at one step, before or after it. */
type Fate = { dies: "before" | "after"; at: number };
type Mortal = <T extends object>(parts: T) => T;

describe("a worker that dies at any step of a webhook", () => {
  it("loses no event, on SQLite", () => deliverThroughDeaths("sqlite:"));

  describe.skipIf(findRedisObstacle("redis-server") !== undefined)("with Redis", () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());

    it("loses no event, on Redis", () => deliverThroughDeaths(redis.url));
  });
});

describe("many workers that handle one webhook at the same time", () => {
  it("create each event once", async () => {
    const ground = await prepare("sqlite:");
    const { trawl, config, receiver } = ground;
    const others = await Promise.all([0, 1, 2].map(() => openApp(config, () => {})));
    onTestFinished(async () => void (await Promise.all(others.map((other) => other.close()))));
    const claims = await beginJob(ground, "jmany");

    const look = async (one: App) => {
      const { frontier, store, clock } = one;
      const webhook = await store.webhooks.find("jmany");
      const deps = { frontier, findJob: (id: string) => frontier.findJob(id), clock, config, showJob: () => ({}) };
      if (webhook?.nextCheckAt !== undefined)
        await processWebhook({ ...deps, store, webhooks: store.webhooks }, webhook, NEVER);
    };
    const lookAll = () => Promise.all([trawl, ...others].flatMap((one) => [look(one), look(one)]));
    await lookAll();
    await lookAll();
    await finishJob(ground, "jmany", claims);
    await lookAll();
    await lookAll();
    await live(ground, "jmany", (parts) => parts);

    await expectTold(ground, "jmany");
    const ranges = receiver.received.flatMap(({ content: { data } }) =>
      data.upTo === undefined ? [] : [[data.after, data.upTo]],
    );
    const inOrder = (ranges as number[][]).sort(([one = 0], [other = 0]) => one - other);
    expect(inOrder.map(([after]) => after)).toEqual([0, ...inOrder.slice(0, -1).map(([, upTo]) => upTo)]);
  });
});

describe("a worker that handles a job while it is replayed", () => {
  it("closes no webhook that has undelivered events", () => deliverThroughReplays(false));

  it("adds nothing to deliveries that another worker has ended", () => deliverThroughReplays(true));
});

async function deliverThroughReplays(isLookedAt: boolean): Promise<void> {
  const ground = await prepare("sqlite:");
  let replays = 0;
  for (let at = 1, isOvertaken = true; isOvertaken; at += 1) {
    const jobId = `jreplay${at}`;
    const [lost, ...claims] = await beginJob(ground, jobId);
    if (lost === undefined) throw new Error("nothing was leased");
    const death = { outcome: { kind: "dead", because: "http_status", status: 404 }, ...NOTHING_FOUND } as const;
    await ground.trawl.frontier.settle([{ ...lost, ...death, site: { kind: "ok" } }]);
    await finishJob(ground, jobId, claims);
    isOvertaken = false;
    await live(
      ground,
      jobId,
      beforeStep(at, async () => {
        isOvertaken = true;
        await replay(ground, jobId);
        if (isLookedAt) await live(ground, jobId, (parts) => parts);
      }),
    );
    if (!isOvertaken) break;
    await live(ground, jobId, (parts) => parts);

    await expectAllTold(ground, jobId);
    replays += 1;
  }
  expect(replays).toBeGreaterThan(15); // or nothing was tried
}

/** The job runs again with its dead letter, which yields a record this time. */
async function replay({ trawl }: Ground, jobId: string): Promise<void> {
  const { frontier, store, clock } = trawl;
  expect(await frontier.replayDead({ jobId }, 10, 10)).toMatchObject({ replayed: 1 });
  await store.webhooks.reopen([jobId], clock.now());
  const { grants } = await frontier.lease({ worker: "pages", queues: [`q${jobId}`], max: 100, leaseMs: 60_000 });
  await store.write(grants.map(({ taskId, token, url }) => write(jobId, taskId, token, url)));
  const settled = { outcome: { kind: "done" }, ...NOTHING_FOUND, site: { kind: "ok" } } as const;
  const { finished } = await frontier.settle(grants.map((grant) => ({ ...claimOf(grant), ...settled })));
  expect(finished).toEqual([jobId]);
}

async function deliverThroughDeaths(broker: string): Promise<void> {
  const ground = await prepare(broker);
  let deaths = 0;
  for (const dies of ["before", "after"] as const) {
    for (let at = 1; at <= STEPS_MOST; at += 1) {
      const jobId = `j${dies}${at}`;
      const mortal = mortality({ dies, at });
      const claims = await beginJob(ground, jobId);
      let hasDied = await outlive(ground, jobId, mortal);
      await finishJob(ground, jobId, claims);
      hasDied = (await outlive(ground, jobId, mortal)) || hasDied;

      await expectTold(ground, jobId);
      if (!hasDied) break;
      deaths += 1;
    }
  }
  expect(deaths).toBeGreaterThan(40); // or nothing was tried
}

type Ground = { trawl: App; config: Config; poster: Poster; receiver: Receiver };

async function prepare(broker: string): Promise<Ground> {
  const folder = newFolder();
  const values = {
    ...{ broker: broker === "sqlite:" ? `sqlite:${join(folder, "broker.db")}` : broker, logLevel: "silent" },
    ...{ store: `sqlite:${join(folder, "store.db")}`, bodies: "none", allowPrivate: ["127.0.0.0/8"] },
    ...{ webhookRate: "unlimited", webhookPerHost: 100 },
  };
  const config = resolveConfig([{ from: "test", values }]);
  const trawl = await openApp(config, () => {});
  const receiver = await startReceiver();
  const fetching = createFetching(config, { ...trawl, allowHosts: [], meter: createWorkerMeter() });
  onTestFinished(async () => {
    await fetching.close();
    await trawl.close();
    await receiver.close();
  });
  return { trawl, config, receiver, poster: createHttpPoster({ client: fetching.fetcher, clock: trawl.clock }) };
}

/** A job with one record per page. All records are stored, and no task is settled. */
async function beginJob({ trawl, config, receiver }: Ground, jobId: string): Promise<readonly Claim[]> {
  const { frontier, store, clock } = trawl;
  const webhook = { url: receiver.url, secret: SECRET, events: ["records" as const, "job.finished" as const] };
  await registerWebhook(store.webhooks, { ...webhook, batch: { records: BATCH } }, { jobId, now: clock.now() });
  const context = { id: jobId, requestId: jobId, queue: `q${jobId}`, typedHosts: [], out: undefined };
  const input = { politeness: { rate: "unlimited", perSite: 100, robots: false } };
  const urls = Array.from({ length: PAGES }, (_, nth) => `https://${jobId}.test/${nth}`);
  await submitDirectly({ frontier, now: clock.now }, resolveJob(input, config, context), urls);
  const { grants } = await frontier.lease({ worker: "pages", queues: [`q${jobId}`], max: 100, leaseMs: 60_000 });
  expect(grants).toHaveLength(PAGES);
  await store.write(grants.map(({ taskId, token, url }) => write(jobId, taskId, token, url)));
  return grants.map(claimOf);
}

/**
 * The worker of one page died before it settled the task, so the page was fetched again and has another record. Then the
 * job ends.
 */
async function finishJob({ trawl }: Ground, jobId: string, claims: readonly Claim[]): Promise<void> {
  const { frontier, store } = trawl;
  const [record] = await store.readRecords(jobId, 0, 1);
  if (record === undefined) throw new Error("no record");
  await store.write([write(jobId, record.taskId, 1_000_000, record.url)]);
  const settled = { outcome: { kind: "done" }, discovered: [], refusedLinks: 0, site: { kind: "ok" } } as const;
  const tally = { pages: 1, records: 1, invalid: 0, bytes: 0 };
  const { finished } = await frontier.settle(claims.map((claim) => ({ ...claim, ...settled, tally })));
  expect(finished).toEqual([jobId]);
}

function write(jobId: string, taskId: string, token: number, url: string) {
  const given = aPageWrite({ jobId, taskId, token, records: [{ by: token }] });
  return { ...given, page: { ...given.page, url } };
}

/** Runs one worker after another until one has nothing left to do. Returns whether one died. */
async function outlive(ground: Ground, jobId: string, mortal: Mortal): Promise<boolean> {
  if (!(await live(ground, jobId, mortal))) return false;
  await ground.trawl.frontier.abandon(jobId);
  expect(await live(ground, jobId, mortal)).toBe(false);
  return true;
}

/** Runs a worker until it has nothing left to do, or dies. Returns whether it died. */
async function live(ground: Ground, jobId: string, mortal: Mortal): Promise<boolean> {
  const { trawl, config, poster } = ground;
  const { clock } = trawl;
  const [frontier, store, webhooks] = [mortal(trawl.frontier), mortal(trawl.store), mortal(trawl.store.webhooks)];
  const deliver = createDeliverer({ webhooks, poster: mortal(poster), clock }, { timeoutMs: 10_000 });
  const lookDeps = {
    findJob: (id: string) => frontier.findJob(id),
    webhooks,
    store,
    frontier,
    clock,
    config,
    showJob: ({ id, state }: { id: string; state: string }) => ({ id, state }),
  };
  try {
    const webhook = await webhooks.find(jobId);
    if (webhook?.nextCheckAt !== undefined) await processWebhook(lookDeps, webhook, NEVER);
    for (;;) {
      const { grants } = await frontier.lease({
        ...{ worker: jobId, queues: ["deliver", "deliver!alone"], max: 10, leaseMs: 60_000 },
      });
      if (grants.length === 0) return false;
      for (const grant of grants) {
        const ending = await deliver(grant, NEVER);
        await frontier.settle([{ ...claimOf(grant), ...ending, ...NOTHING_FOUND }]);
      }
    }
  } catch (error) {
    if (error instanceof Death) return true;
    throw error;
  }
}

function mortality({ dies, at }: Fate): Mortal {
  return counting(async (nth, step) => {
    if (nth === at && dies === "before") throw new Death();
    const answer = await step();
    if (nth === at) throw new Death();
    return answer;
  });
}

function beforeStep(at: number, act: () => Promise<void>): Mortal {
  return counting(async (nth, step) => {
    if (nth === at) await act();
    return step();
  });
}

/** Counts the steps of all wrapped objects together. */
function counting(make: (nth: number, step: () => Promise<unknown>) => Promise<unknown>): Mortal {
  let steps = 0;
  return (parts) =>
    new Proxy(parts, {
      get(target, name) {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== "function") return member;
        return (...words: unknown[]) => {
          steps += 1;
          return make(steps, async () => (await Reflect.apply(member, target, words)) as unknown);
        };
      },
    });
}

async function expectTold(ground: Ground, jobId: string): Promise<void> {
  const events = await expectAllTold(ground, jobId);
  const ends = new Set(events.filter(({ type }) => type === "job.finished").map(({ id }) => id));
  expect([jobId, ends.size]).toEqual([jobId, 1]);
  expect(await ground.trawl.frontier.findJob(deliveryJobId(jobId, 1))).toMatchObject({ state: "finished" });
}

/** Every record was delivered, then the end; nothing is left open. */
async function expectAllTold({ trawl, receiver }: Ground, jobId: string): Promise<readonly Received[]> {
  const { store, frontier } = trawl;
  const events = receiver.received.filter(({ id }) => id.startsWith(`evt_${jobId}_`));
  const kept = await store.readRecords(jobId, 0, 100);
  const delivered = events
    .flatMap(({ content }) => (content.data.records ?? []) as unknown[])
    .map((line) => JSON.stringify(line));

  const undelivered = kept
    .map((record) => JSON.stringify(recordLine(record)))
    .filter((line) => !delivered.includes(line));
  expect([jobId, undelivered]).toEqual([jobId, []]);
  for (const event of events) expect(receiver.problemOf(event, SECRET)).toBeUndefined();
  const texts = new Map(events.map(({ id, body }) => [id, body]));
  expect(events.filter(({ id, body }) => texts.get(id) !== body)).toEqual([]);
  const webhook = await store.webhooks.find(jobId);
  expect(webhook).toMatchObject({
    nextCheckAt: undefined,
    hasEnd: true,
    delivered: texts.size,
    nextEvent: texts.size + 1,
  });
  expect(events.find(({ id }) => id === `evt_${jobId}_${texts.size}`)?.type).toBe("job.finished");
  const rounds = Array.from({ length: webhook?.round ?? 0 }, (_, nth) => deliveryJobId(jobId, nth + 1));
  const states = await Promise.all(rounds.map(async (id) => (await frontier.findJob(id))?.state ?? "finished"));
  expect(states.filter((state) => state !== "finished")).toEqual([]);
  return events;
}
