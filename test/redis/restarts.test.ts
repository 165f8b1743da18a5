/** Redis is killed and restarted while handles use it, with and without the loss of its last writes. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type SitePolicy, TERM_MS, type Term } from "../../src/domain/politeness.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  countsOf,
  grantsOf,
  oneGrant,
  returnedAfter,
  settleAll,
  settlementOf,
  submit,
  tasksAt,
  viewOf,
} from "../contracts/frontier/makers.ts";
import { auditShard } from "../model/redis-audit.ts";
import { type RedisOptions, type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { startCluster } from "../services/redis-cluster.ts";
import { waitUntil } from "../services/wait-until.ts";
import { createStage, openMany } from "./stage.ts";

const clock = systemClock();
const TIMEOUT_MS = 40_000;

async function serverFor(options: RedisOptions): Promise<RedisServer> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

/** Leases and settles until the job ends; each page has one link. */
async function crawl(frontier: AnyFrontier, worker: string, onSettled: () => void): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  while (!signal.aborted && (await frontier.findJob("job"))?.finishedAt === undefined) {
    const { grants } = await frontier.lease(aRequest({ worker, max: 4 }));
    for (const grant of grants) {
      const discovered = grant.depth === 0 ? [aTask(`${grant.url}-more`, { depth: 1 })] : [];
      await frontier.settle([settlementOf(grant, { discovered })]);
      onSettled();
    }
    if (grants.length === 0) await frontier.waitForWork(clock.now() + 20, signal);
  }
}

describe("Redis killed and restarted, every write kept", () => {
  for (const shards of [1, 3]) {
    it(`answers every call, loses no task and keeps correct counts, on ${shards} shard(s)`, async () => {
      const server = await serverFor({ appendonly: "always" });
      const stage = createStage(server.url, { shards });
      const handles = await openMany(stage, 3);
      const [first] = handles as [AnyFrontier];
      const sites = Array.from({ length: 6 }, (_, nth) => `site-${nth}.test`);
      await submit(
        first,
        aJob(),
        sites.flatMap((site) => tasksAt(site, 60)),
      );
      await first.seal("job");

      let settled = 0;
      const over = Promise.all(handles.map((frontier, nth) => crawl(frontier, `w${nth}`, () => settled++)));
      for (const after of [60, 200, 400]) {
        expect(await waitUntil(() => settled >= after, TIMEOUT_MS, 1)).toBe(true);
        await server.restart();
      }
      await over;
      for (let nth = 0; nth < 3; nth++) await first.reap(100);

      const pages = 2 * 60 * sites.length;
      expect(await viewOf(first)).toMatchObject({ state: "finished", counts: { done: pages, dead: 0 } });
      expect(await first.listHolders()).toEqual([]);
      for (let nth = 0; nth < shards; nth++) {
        expect(await auditShard(server.port, `${stage.prefix}:{${nth}}`)).toEqual([]);
      }
      expect(stage.events).toContain("broker.restarted");
    });
  }

  it("loses no task on a cluster whose nodes restart one after the other", async () => {
    const cluster = await startCluster({ nodes: 3, appendonly: "always" });
    onTestFinished(() => cluster.stop());
    const stage = createStage(cluster.url, { shards: 4 });
    const handles = await openMany(stage, 2);
    const [first] = handles as [AnyFrontier];
    const sites = Array.from({ length: 8 }, (_, nth) => `site-${nth}.test`);
    await submit(
      first,
      aJob(),
      sites.flatMap((site) => tasksAt(site, 40)),
    );
    await first.seal("job");

    let settled = 0;
    const over = Promise.all(handles.map((frontier, nth) => crawl(frontier, `w${nth}`, () => settled++)));
    for (const [nth, node] of cluster.nodes.entries()) {
      const isDue = () => settled >= 50 + 100 * nth;
      expect(await waitUntil(isDue, TIMEOUT_MS, 1)).toBe(true);
      await node.restart();
      await cluster.waitUntilWhole();
    }
    await over;

    for (let nth = 0; nth < 3; nth++) await first.reap(100);
    const pages = 2 * 40 * sites.length;
    expect(await viewOf(first)).toMatchObject({ state: "finished", counts: { done: pages, dead: 0, leased: 0 } });
    expect(await first.listHolders()).toEqual([]);
  });

  it("reloads flushed scripts, and does not report a restart", async () => {
    const server = await serverFor({});
    const stage = createStage(server.url);
    const handles = await openMany(stage, 2);
    const [first] = handles as [AnyFrontier];
    await submit(first, aJob(), tasksAt("a.test", 300));
    await first.seal("job");

    const over = Promise.all(handles.map((frontier, nth) => crawl(frontier, `w${nth}`, () => {})));
    let isOver = false;
    void over.finally(() => {
      isOver = true;
    });
    await withRedis(server.port, async (redis) => {
      while (!isOver) await redis.script("FLUSH");
    });
    await over;

    expect(await countsOf(first)).toEqual({ submitted: 300, discovered: 300, done: 600 });
    expect(stage.events).toEqual([]);
  });
});

/**
 * Copies the files of a server. The returned function restarts the server on that copy, as after a crash of its
 * machine.
 */
async function createRewind(server: RedisServer): Promise<() => Promise<void>> {
  const [, folder = ""] = await withRedis(server.port, (redis) => redis.config("GET", "dir") as Promise<string[]>);
  // While a slow disk still syncs, Redis keeps newer writes in memory for up to two seconds.
  const isWritten = async () =>
    /^aof_buffer_length:0\r$/m.test(await withRedis(server.port, (redis) => redis.info("persistence")));
  expect(await waitUntil(isWritten, TIMEOUT_MS)).toBe(true);
  const copy = mkdtempSync(join(tmpdir(), "trawl-rewind-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(join(folder, "appendonlydir"), copy, { recursive: true });
  return async () => {
    await server.kill();
    rmSync(join(folder, "appendonlydir"), { recursive: true });
    cpSync(copy, join(folder, "appendonlydir"), { recursive: true });
    await server.restart();
  };
}

describe("Redis restarted without its last writes", () => {
  const POLICIES: Record<string, SitePolicy> = {
    "steady.test": { intervalMs: 400, burst: 1, perSite: 9 },
    "bursty.test": { intervalMs: 300, burst: 3, perSite: 9 },
    "other.test": { intervalMs: 500, burst: 1, perSite: 9 },
    "third.test": { intervalMs: 350, burst: 2, perSite: 9 },
  };

  it("F3 requests no site until a full interval after the lost terms, on any shard and prefix", async () => {
    const server = await serverFor({ appendonly: "everysec" });
    const stages = [createStage(server.url, { shards: 3 }), createStage(server.url)];
    const handles = await Promise.all(stages.map((stage) => stage.open()));
    for (const frontier of handles) {
      const tasks = Object.keys(POLICIES).flatMap((site) => tasksAt(site, 8));
      await submit(frontier, aJob({ sites: POLICIES }), tasks);
    }
    const rewind = await createRewind(server);
    // These terms are lost in the restart, and their workers use them.
    const lost = await Promise.all(handles.map(async (frontier) => (await frontier.lease(aRequest())).terms));
    expect(lost.map((terms) => terms.length)).toEqual([4, 4]);

    await rewind();

    const next: Term[][] = [[], []];
    const until = clock.now() + TIMEOUT_MS;
    while (next.some((terms) => terms.length < 4) && clock.now() < until) {
      for (const [nth, frontier] of handles.entries()) next[nth]?.push(...(await frontier.lease(aRequest())).terms);
      await clock.sleep(20);
    }
    for (const [nth, terms] of next.entries()) {
      expect(terms.map(({ site }) => site).sort()).toEqual(Object.keys(POLICIES).sort());
      for (const { site, startsAt, intervalMs } of terms) {
        const before = lost[nth]?.find((term) => term.site === site) as Term;
        expect(startsAt - before.endsAt, `${nth} ${site}`).toBeGreaterThanOrEqual(intervalMs);
      }
    }
    for (const { events } of stages) expect(events).toContain("broker.restarted");
  });

  it("F3 requests a site whose entry was lost no sooner than others", async () => {
    const server = await serverFor({ appendonly: "everysec" });
    const frontier = await createStage(server.url).open();
    const policy = POLICIES["steady.test"] as SitePolicy;
    await frontier.createJob(aJob({ policy }));
    const rewind = await createRewind(server);
    await frontier.enqueue("job", tasksAt("lost.test", 2));
    const [lost] = (await frontier.lease(aRequest())).terms as [Term];

    await rewind();
    await frontier.enqueue("job", tasksAt("lost.test", 2));
    const isGranted = async () => {
      const [term] = (await frontier.lease(aRequest())).terms;
      if (term !== undefined) expect(term.startsAt - lost.endsAt).toBeGreaterThanOrEqual(policy.intervalMs);
      return term !== undefined;
    };
    expect(await waitUntil(isGranted, TIMEOUT_MS)).toBe(true);
  });

  it("F3 waits for the end of a lost term that was to start after a stored one", async () => {
    const { stored, lost, openTerm } = await loseTerm();

    const { startsAt } = await openTerm("after");

    expect(lost.startsAt).toBeGreaterThan(stored.endsAt);
    expect(startsAt - lost.endsAt).toBeGreaterThanOrEqual(lost.intervalMs);
  });

  it("F3 ignores terms from before the restart that are returned after it", async () => {
    const { frontier, stored, lost, openTerm } = await loseTerm();
    const old = [stored, lost].map((term) => returnedAfter(term, []));

    await frontier.returnTerms(old);
    const first = await openTerm("after");
    await frontier.returnTerms(old);
    const second = await openTerm("after");

    expect(first.startsAt - lost.endsAt).toBeGreaterThanOrEqual(lost.intervalMs);
    expect(second.startsAt - first.endsAt).toBeGreaterThanOrEqual(lost.intervalMs);
    // The time of the restart counts once.
    expect(second.startsAt - first.startsAt).toBeLessThan(2 * TERM_MS);
  });

  /** Two terms of a site, one after the other. The server was restarted without the second one. */
  async function loseTerm() {
    const server = await serverFor({ appendonly: "everysec" });
    const frontier = await createStage(server.url).open();
    await frontier.setSitePolicy("a.test", POLICIES["bursty.test"]);
    const openTerm = async (worker: string) =>
      (await frontier.openTerm({ worker, site: "a.test", returned: undefined })) as Term;
    const stored = await openTerm("stored");
    const rewind = await createRewind(server);
    const lost = await openTerm("lost");
    await rewind();
    return { frontier, stored, lost, openTerm };
  }

  it("F9 queues lost links of a page again, even if this process has queued them before", async () => {
    const server = await serverFor({ appendonly: "everysec" });
    const [one, other] = (await openMany(createStage(server.url), 2)) as [AnyFrontier, AnyFrontier];
    await submit(one, aJob(), [aTask("https://a.test/")]);
    const rewind = await createRewind(server);
    const discovered = tasksAt("b.test", 5);
    await settleAll(one, [await oneGrant(one)], { discovered });
    expect(await countsOf(one)).toMatchObject({ queued: 5 });

    await rewind();
    // The other handle calls first, and reloads the scripts.
    await other.release(await grantsOf(other));
    await other.settle([settlementOf({ taskId: "1", token: 99 })]);
    await settleAll(one, [await oneGrant(one)], { discovered });

    expect(await countsOf(one)).toEqual({ submitted: 1, discovered: 5, done: 1, queued: 5 });
  });
});
