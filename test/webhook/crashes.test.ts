/**
 * A worker crashes before or after each step of a webhook, with real brokers, a real store and a real endpoint, and the
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
import { createPacer } from "../../src/worker/pace/pacer.ts";
import { aRequest } from "../contracts/frontier/makers.ts";
import { aPageWrite } from "../contracts/store/page-write.ts";
import { newFolder } from "../e2e/folder.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { submitDirectly } from "../submit/submit-directly.ts";
import { type Received, type Receiver, startReceiver } from "./receiver.ts";

const SECRET = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const PAGES = 5;
const BATCH = 2;
const MAX_STEPS = 200;
const NEVER = new AbortController().signal;

const NOTHING_FOUND = { discovered: [], refusedLinks: 0, tally: { pages: 0, records: 0, invalid: 0, bytes: 0 } };

class Crash extends Error {}

/** The worker crashes before or after one step. */
type CrashPoint = { when: "before" | "after"; at: number };
type Wrap = <T extends object>(parts: T) => T;

describe("a worker that crashes at any step of a webhook", () => {
  it("loses no event, on SQLite", () => deliverDespiteCrashes("sqlite:"));

  describe.skipIf(findRedisObstacle("redis-server") !== undefined)("with Redis", () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());

    it("loses no event, on Redis", () => deliverDespiteCrashes(redis.url));
  });
});

describe("many workers that handle one webhook at the same time", () => {
  it("create each event once", async () => {
    const setup = await prepare("sqlite:");
    const { trawl, config, receiver } = setup;
    const others = await Promise.all([0, 1, 2].map(() => openApp(config, () => {})));
    onTestFinished(async () => void (await Promise.all(others.map((other) => other.close()))));
    const claims = await beginJob(setup, "jmany");

    const processOne = async (one: App) => {
      const { frontier, store, clock } = one;
      const webhook = await store.webhooks.find("jmany");
      const deps = { frontier, findJob: (id: string) => frontier.findJob(id), clock, config, showJob: () => ({}) };
      if (webhook?.nextCheckAt !== undefined)
        await processWebhook({ ...deps, store, webhooks: store.webhooks }, webhook, NEVER);
    };
    const processAll = () => Promise.all([trawl, ...others].flatMap((one) => [processOne(one), processOne(one)]));
    await processAll();
    await processAll();
    await finishJob(setup, "jmany", claims);
    await processAll();
    await processAll();
    await runWorker(setup, "jmany", (parts) => parts);

    await expectDelivered(setup, "jmany");
    const ranges = receiver.received.flatMap(({ content: { data } }) =>
      data.upTo === undefined ? [] : [[data.after, data.upTo]],
    );
    const inOrder = (ranges as number[][]).sort(([one = 0], [other = 0]) => one - other);
    expect(inOrder.map(([after]) => after)).toEqual([0, ...inOrder.slice(0, -1).map(([, upTo]) => upTo)]);
  });
});

describe("a worker that handles a job while it is replayed", () => {
  it("closes no webhook that has undelivered events", () => deliverDuringReplays(false));

  it("adds no event to deliveries that another worker has ended", () => deliverDuringReplays(true));
});

async function deliverDuringReplays(hasOtherWorker: boolean): Promise<void> {
  const setup = await prepare("sqlite:");
  let replays = 0;
  for (let at = 1, isOvertaken = true; isOvertaken; at += 1) {
    const jobId = `jreplay${at}`;
    const [lost, ...claims] = await beginJob(setup, jobId);
    if (lost === undefined) throw new Error("expected a lease");
    const failure = { outcome: { kind: "dead", because: "http_status", status: 404 }, ...NOTHING_FOUND } as const;
    await setup.trawl.frontier.settle([{ ...lost, ...failure, site: { kind: "ok" } }]);
    await finishJob(setup, jobId, claims);
    isOvertaken = false;
    await runWorker(
      setup,
      jobId,
      beforeStep(at, async () => {
        isOvertaken = true;
        await replay(setup, jobId);
        if (hasOtherWorker) await runWorker(setup, jobId, (parts) => parts);
      }),
    );
    if (!isOvertaken) break;
    await runWorker(setup, jobId, (parts) => parts);

    await expectAllDelivered(setup, jobId);
    replays += 1;
  }
  expect(replays).toBeGreaterThan(15); // otherwise the loop has ended too early
}

/** The job runs again with its dead letter, which yields a record this time. */
async function replay({ trawl }: Setup, jobId: string): Promise<void> {
  const { frontier, store, clock } = trawl;
  expect(await frontier.replayDead({ jobId }, 10, 10)).toMatchObject({ replayed: 1 });
  await store.webhooks.reopen([jobId], clock.now());
  const { grants } = await frontier.lease(aRequest({ worker: "pages", queues: [`q${jobId}`] }));
  await store.write(grants.map(({ taskId, token, url }) => write(jobId, taskId, token, url)));
  const settled = { outcome: { kind: "done" }, ...NOTHING_FOUND, site: { kind: "ok" } } as const;
  const { finished } = await frontier.settle(grants.map((grant) => ({ ...claimOf(grant), ...settled })));
  expect(finished).toEqual([jobId]);
}

async function deliverDespiteCrashes(broker: string): Promise<void> {
  const setup = await prepare(broker);
  let crashes = 0;
  for (const when of ["before", "after"] as const) {
    for (let at = 1; at <= MAX_STEPS; at += 1) {
      const jobId = `j${when}${at}`;
      const wrap = crashAt({ when, at });
      const claims = await beginJob(setup, jobId);
      let hasCrashed = await runWorkers(setup, jobId, wrap);
      await finishJob(setup, jobId, claims);
      hasCrashed = (await runWorkers(setup, jobId, wrap)) || hasCrashed;

      await expectDelivered(setup, jobId);
      if (!hasCrashed) break;
      crashes += 1;
    }
  }
  expect(crashes).toBeGreaterThan(40); // otherwise the loop has ended too early
}

type Setup = { trawl: App; config: Config; poster: Poster; receiver: Receiver };

async function prepare(broker: string): Promise<Setup> {
  const folder = newFolder();
  const values = {
    ...{ broker: broker === "sqlite:" ? `sqlite:${join(folder, "broker.db")}` : broker, logLevel: "silent" },
    ...{ store: `sqlite:${join(folder, "store.db")}`, bodies: "none", allowPrivate: ["127.0.0.0/8"] },
    ...{ webhookRate: "unlimited", webhookPerHost: 100 },
  };
  const config = resolveConfig([{ from: "test", values }]);
  const trawl = await openApp(config, () => {});
  const receiver = await startReceiver();
  const pacer = createPacer(trawl, { worker: "w", concurrency: 1 });
  const fetching = createFetching(config, { ...trawl, pacer, allowHosts: [], meter: createWorkerMeter() });
  onTestFinished(async () => {
    await fetching.close();
    await trawl.close();
    await receiver.close();
  });
  return { trawl, config, receiver, poster: createHttpPoster({ client: fetching.fetcher, clock: trawl.clock }) };
}

/** A job with one record per page. All records are stored, and no task is settled. */
async function beginJob({ trawl, config, receiver }: Setup, jobId: string): Promise<readonly Claim[]> {
  const { frontier, store, clock } = trawl;
  const webhook = { url: receiver.url, secret: SECRET, events: ["records" as const, "job.finished" as const] };
  await registerWebhook(store.webhooks, { ...webhook, batch: { records: BATCH } }, { jobId, now: clock.now() });
  const context = { id: jobId, requestId: jobId, queue: `q${jobId}`, typedHosts: [], out: undefined };
  const input = { politeness: { rate: "unlimited", perSite: 100, robots: false } };
  const urls = Array.from({ length: PAGES }, (_, nth) => `https://${jobId}.test/${nth}`);
  await submitDirectly({ frontier, now: clock.now }, resolveJob(input, config, context), urls);
  const { grants } = await frontier.lease(aRequest({ worker: "pages", queues: [`q${jobId}`] }));
  expect(grants).toHaveLength(PAGES);
  await store.write(grants.map(({ taskId, token, url }) => write(jobId, taskId, token, url)));
  return grants.map(claimOf);
}

/**
 * The worker of one page crashed before it settled the task, so the page was fetched again and has another record. Then
 * the job ends.
 */
async function finishJob({ trawl }: Setup, jobId: string, claims: readonly Claim[]): Promise<void> {
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

/** Runs one worker after another until one has nothing left to do. Returns whether one crashed. */
async function runWorkers(setup: Setup, jobId: string, wrap: Wrap): Promise<boolean> {
  if (!(await runWorker(setup, jobId, wrap))) return false;
  await setup.trawl.frontier.abandon(jobId);
  expect(await runWorker(setup, jobId, wrap)).toBe(false);
  return true;
}

/** Runs a worker until it has nothing left to do, or crashes. Returns whether it crashed. */
async function runWorker(setup: Setup, jobId: string, wrap: Wrap): Promise<boolean> {
  const { trawl, config, poster } = setup;
  const { clock } = trawl;
  const [frontier, store, webhooks] = [wrap(trawl.frontier), wrap(trawl.store), wrap(trawl.store.webhooks)];
  const deliver = createDeliverer({ webhooks, poster: wrap(poster), clock }, { timeoutMs: 10_000 });
  const deps = {
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
    if (webhook?.nextCheckAt !== undefined) await processWebhook(deps, webhook, NEVER);
    for (;;) {
      const { grants } = await frontier.lease({
        ...aRequest({ worker: jobId, queues: ["deliver", "deliver!alone"], max: 10 }),
      });
      if (grants.length === 0) return false;
      for (const grant of grants) {
        const ending = await deliver(grant, NEVER);
        await frontier.settle([{ ...claimOf(grant), ...ending, ...NOTHING_FOUND }]);
      }
    }
  } catch (error) {
    if (error instanceof Crash) return true;
    throw error;
  }
}

function crashAt({ when, at }: CrashPoint): Wrap {
  return counting(async (nth, step) => {
    if (nth === at && when === "before") throw new Crash();
    const answer = await step();
    if (nth === at) throw new Crash();
    return answer;
  });
}

function beforeStep(at: number, act: () => Promise<void>): Wrap {
  return counting(async (nth, step) => {
    if (nth === at) await act();
    return step();
  });
}

/** Counts the steps of all wrapped objects together. */
function counting(make: (nth: number, step: () => Promise<unknown>) => Promise<unknown>): Wrap {
  let steps = 0;
  return (parts) =>
    new Proxy(parts, {
      get(target, name) {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          steps += 1;
          return make(steps, async () => (await Reflect.apply(member, target, args)) as unknown);
        };
      },
    });
}

async function expectDelivered(setup: Setup, jobId: string): Promise<void> {
  const events = await expectAllDelivered(setup, jobId);
  const ends = new Set(events.filter(({ type }) => type === "job.finished").map(({ id }) => id));
  expect([jobId, ends.size]).toEqual([jobId, 1]);
  expect(await setup.trawl.frontier.findJob(deliveryJobId(jobId, 1))).toMatchObject({ state: "finished" });
}

/** Every record was delivered, then the end; nothing is left open. */
async function expectAllDelivered({ trawl, receiver }: Setup, jobId: string): Promise<readonly Received[]> {
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
