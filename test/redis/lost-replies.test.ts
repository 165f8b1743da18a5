/** Calls that the server has executed, but whose reply was lost. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SitePolicy, TERM_MS, type Term } from "../../src/domain/politeness.ts";
import type { Settlement } from "../../src/frontier/frontier.ts";
import { loadScripts } from "../../src/frontier/redis/connection/scripts.ts";
import {
  ALL,
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
import { type RedisServer, startRedis } from "../services/redis.ts";
import { openLossyProxy } from "./lossy-proxy.ts";
import { createStage } from "./stage.ts";

const scripts = loadScripts();
/** `nextDueAt` depends on the measured difference of the clocks, with an error of half a round trip. */
const CLOCK_ERROR_MS = 20;

/** The hash that a request for this script contains. */
function shaOf(name: string): string {
  return scripts.get(name)?.sha ?? name;
}

describe("a lost reply", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function open(shards = 1) {
    const proxy = await openLossyProxy(server.port);
    const stage = createStage(proxy.url, { shards });
    const frontier = await stage.open();
    await frontier.createJob(aJob());
    await frontier.lease(aRequest()); // loads the script into the server
    return { proxy, stage, frontier };
  }

  it("F6 of a lease counts no crash, and the worker is woken for the tasks", async () => {
    const { proxy, frontier } = await open();
    await frontier.enqueue("job", tasksAt("a.test", 1));

    for (let nth = 0; nth < 4; nth++) {
      // Selected by the name of the worker, because the first call on a new connection checks for a restart.
      const lost = proxy.loseNextReply("worker-w");
      expect((await frontier.lease(aRequest({ worker: "worker-w" }))).grants).toEqual([]);
      await lost;
      await frontier.waitForWork(Number.MAX_SAFE_INTEGER, AbortSignal.timeout(10_000));
      expect(await countsOf(frontier)).toEqual({ submitted: 1, queued: 1 });
    }

    // Only the third crash makes the task a dead letter, so none was counted before.
    for (const nth of [1, 2, 3]) {
      expect((await oneGrant(frontier, { ...ALL, worker: `w${nth}` })).attempt).toBe(1);
      expect(await frontier.listDead({}, 10)).toEqual([]);
      await frontier.abandon(`w${nth}`);
    }
    expect(await countsOf(frontier)).toEqual({ submitted: 1, dead: 1 });
  });

  it("F1 of a lease keeps the tasks that the worker held before", async () => {
    const { proxy, frontier } = await open();
    await frontier.enqueue("job", tasksAt("a.test", 6));
    const held = await grantsOf(frontier, { worker: "worker-w", max: 2 });

    const lost = proxy.loseNextReply("worker-w");
    const more = await grantsOf(frontier, { worker: "worker-w", max: 2 });
    await lost;

    expect(more).toHaveLength(2);
    expect(await countsOf(frontier)).toEqual({ submitted: 6, leased: 4, queued: 2 });
    const { states } = await frontier.settle([...held, ...more].map((grant) => settlementOf(grant)));
    expect(states).toEqual(["done", "done", "done", "done"]);
  });

  it("F10 of a submission, settlement, release or replay leaves correct counts", async () => {
    const { proxy, stage, frontier } = await open();
    const losing = async <T>(prepare: () => Promise<T>, call: (prepared: T) => Promise<unknown>) => {
      await call(await prepare()); // loads the script into the server
      const prepared = await prepare();
      const lost = proxy.loseNextReply();
      await call(prepared);
      await lost;
      await viewOf(frontier);
    };
    const nothing = async () => {};

    await losing(nothing, () => frontier.enqueue("job", tasksAt("a.test", 20)));
    expect((await countsOf(frontier)).queued).toBe(20);
    await losing(
      () => grantsOf(frontier, { max: 3 }),
      (grants) => frontier.release(grants),
    );
    expect((await countsOf(frontier)).queued).toBe(20);
    const oneOf = () => oneGrant(frontier);
    await losing(oneOf, (grant) => frontier.settle([settlementOf(grant)]));
    const outcome = { kind: "dead", because: "too_big" } as const;
    await losing(oneOf, (grant) => frontier.settle([settlementOf(grant, { outcome })]));
    await losing(nothing, () => frontier.replayDead({}, 1, 1));

    expect(await countsOf(frontier)).toMatchObject({ queued: 18 });
    expect(await auditShard(server.port, `${stage.prefix}:{0}`)).toEqual([]);
  });

  for (const shards of [1, 3]) {
    const links = Array.from({ length: 6 }, (_, nth) => aTask(`https://linked-${nth}.test/`));

    it(`F7 of a settlement leads to a second call with the same result, on ${shards} shard(s)`, async () => {
      const { proxy, frontier } = await open(shards);
      const outcome = { kind: "dead", because: "too_big" } as const;
      const endings: Partial<Settlement>[] = [{}, { discovered: links }, { outcome }, { refusedLinks: 2 }];
      for (const [nth, ending] of [...endings, ...endings].entries()) {
        const id = `job-${nth}`;
        await submit(frontier, aJob({ id }), [aTask(`https://${id}.test/`)]);
        await frontier.seal(id);
        const settlement = settlementOf(await oneGrant(frontier), ending);
        // The first round loads the scripts.
        const sha = shaOf(ending === endings[0] ? "settle-done" : "settle");
        const lost = nth < endings.length ? undefined : proxy.loseNextReply(sha);
        const { states, finished } = await frontier.settle([settlement]);
        await lost;

        expect(states).toEqual([settlement.outcome.kind]);
        const isLast = ending.discovered === undefined;
        expect(finished).toEqual(isLast ? [id] : []);
        const { counts, tally } = await viewOf(frontier, id);
        expect(tally.pages).toBe(ending.outcome === undefined ? 1 : 0);
        expect(counts.discovered).toBe((ending.discovered?.length ?? 0) + (ending.refusedLinks ?? 0));
        if (!isLast) await frontier.cancel(id);
      }
    });

    it(`F9 of a submission leads to a second call that queues no URL twice, on ${shards} shard(s)`, async () => {
      const { proxy, frontier } = await open(shards);
      await frontier.enqueue("job", links);

      const lost = proxy.loseNextReply(shaOf("enqueue"));
      const more = tasksAt("a.test", 5);
      const answer = await frontier.enqueue("job", [...more, ...more.slice(3)]);
      await lost;

      expect(answer).toEqual({ queued: 5, duplicates: 2, refused: [] });
      expect(await countsOf(frontier)).toEqual({ submitted: 13, queued: 11, duplicate: 2 });
    });

    it(`F11 of a seal, or of a later step, does not prevent the end of the job, on ${shards} shard(s)`, async () => {
      const { proxy, frontier } = await open(shards);
      expect(await frontier.seal("job")).toBe(true);
      const names = shards === 1 ? ["seal"] : ["seal", "finish-job", "apply-job-state", "mark-synced"];
      for (const script of names) {
        await frontier.createJob(aJob({ id: script }));
        const lost = proxy.loseNextReply(shaOf(script));
        expect(await frontier.seal(script)).toBe(true);
        await lost;
        expect(await viewOf(frontier, script)).toMatchObject({ state: "finished", sealed: true });
      }
    });

    it(`F15 of a replay or a discard leads to a second call with the same result, on ${shards} shard(s)`, async () => {
      const { proxy, frontier } = await open(shards);
      await frontier.enqueue("job", tasksAt("a.test", 6));
      const outcome = { kind: "dead", because: "too_big" } as const;
      await frontier.settle((await grantsOf(frontier)).map((grant) => settlementOf(grant, { outcome })));
      expect(await frontier.replayDead({}, 1, 10)).toMatchObject({ replayed: 1 });
      expect(await frontier.discardDead({}, 1)).toBe(1);

      for (const [script, call] of [
        ["replay-dead", async () => (await frontier.replayDead({}, 2, 10)).replayed],
        ["discard-dead", () => frontier.discardDead({}, 2)],
      ] as const) {
        const lost = proxy.loseNextReply(shaOf(script));
        expect(await call()).toBe(2);
        await lost;
      }
      expect(await countsOf(frontier)).toEqual({ submitted: 6, queued: 3, dead: 3 });
    });
  }

  it("F15 of a replay reopens the job on every shard", async () => {
    const { proxy, frontier } = await open(3);
    const outcome = { kind: "dead", because: "too_big" } as const;
    for (const id of ["known", "lost"]) {
      await submit(frontier, aJob({ id }), [aTask(`https://${id}.test/`)]);
      await frontier.settle([settlementOf(await oneGrant(frontier), { outcome })]);
      expect(await frontier.seal(id)).toBe(true);
      const lost = id === "lost" ? proxy.loseNextReply(shaOf("reopen-jobs")) : undefined;
      expect(await frontier.replayDead({ jobId: id }, 1, 10)).toMatchObject({ replayed: 1 });
      await lost;

      const links = Array.from({ length: 9 }, (_, nth) => aTask(`https://${id}-${nth}.test/`));
      await frontier.settle([settlementOf(await oneGrant(frontier), { discovered: links })]);
      expect(await countsOf(frontier, id)).toEqual({ submitted: 1, discovered: 9, done: 1, queued: 9 });
      await frontier.cancel(id);
    }
  });

  it("F7 does not make a stale claim valid", async () => {
    const { proxy, frontier } = await open();
    await frontier.enqueue("job", tasksAt("a.test", 2));
    const [grant] = await grantsOf(frontier, { max: 1, leaseMs: 0 });
    if (grant === undefined) throw new Error("expected a due task");
    await frontier.settle([settlementOf(await oneGrant(frontier))]);
    await frontier.reap(10);

    const lost = proxy.loseNextReply();
    const { states } = await frontier.settle([settlementOf(grant)]);
    await lost;

    expect(states).toEqual(["stale"]);
  });

  it("F11 of the last settlement leaves a job of several shards to other reapers, which end it once", async () => {
    const { proxy, stage, frontier } = await open(3);
    const other = await stage.open({ url: server.url });
    const doomed = await stage.open({ retryForMs: 0 });
    await submit(other, aJob({ id: "last" }), [aTask("https://a.test/")]);
    await other.seal("last");
    const grant = await oneGrant(doomed);

    // Selected by script, because the first call on a new connection checks for a restart.
    const lost = proxy.loseNextReply(shaOf("settle-done")).then(proxy.cut);
    await expect(doomed.settle([settlementOf(grant)])).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
    await lost;
    expect(await viewOf(other, "last")).toMatchObject({ state: "running", counts: { done: 1, leased: 0 } });

    for (let nth = 0; nth < 3; nth++) await other.reap(100);
    const { state, finishedAt } = await viewOf(other, "last");
    expect(state).toBe("finished");
    await other.reap(100);
    expect((await viewOf(other, "last")).finishedAt).toBeCloseTo(finishedAt ?? 0, -2);
    await frontier.close();
  });

  it("F7 of the check for the end of a job does not lose the results of the settlement", async () => {
    const { proxy, stage } = await open(3);
    const other = await stage.open({ url: server.url });
    const doomed = await stage.open({ retryForMs: 0 });
    await submit(other, aJob({ id: "last" }), [aTask("https://a.test/")]);
    await other.seal("last");
    const grant = await oneGrant(doomed);

    const lost = proxy.loseNextReply(shaOf("find-job")).then(proxy.cut);
    expect(await doomed.settle([settlementOf(grant)])).toEqual({ states: ["done"], finished: [] });
    await lost;

    for (let nth = 0; nth < 3; nth++) await other.reap(100);
    expect(await viewOf(other, "last")).toMatchObject({ state: "finished", counts: { done: 1 } });
  });

  describe("with a term", () => {
    const SLOW: SitePolicy = { intervalMs: 100, burst: 1, perSite: 9 };

    /** A site with a rate, whose first term has been opened. */
    async function openSlow() {
      const opened = await open();
      const { frontier } = opened;
      // Loads the scripts into the server.
      await frontier.openTerm({ worker: "w", site: "other.test", returned: undefined });
      const unused = { ...SLOW, site: "other.test", number: 1, arrivalAt: 0, unstarted: 0 };
      await frontier.returnTerms([{ ...unused, slowdown: 1, slowdownCause: undefined }]);
      await submit(frontier, aJob({ id: "slow", policy: SLOW }), tasksAt("slow.test", 8));
      const answer = await frontier.lease(aRequest({ worker: "worker-w", max: 1 }));
      const [term] = answer.terms as [Term];
      await settleAll(frontier, answer.grants);
      return { ...opened, returned: returnedAfter(term, [term.startsAt]), term };
    }

    it("F3 that was opened without a task only costs time: the next term starts after it", async () => {
      const { proxy, frontier, term, returned } = await openSlow();
      const request = { worker: "worker-w", site: "slow.test", returned };

      const lost = proxy.loseNextReply("worker-w");
      const next = (await frontier.openTerm(request)) as Term;
      await lost;

      expect(next.number).toBe(term.number + 2);
      expect(next.startsAt - term.startsAt).toBeGreaterThanOrEqual(TERM_MS + 2 * SLOW.intervalMs);
    });

    it("F3 that a lease granted only costs time: its tasks are queued again, and its site waits", async () => {
      const { proxy, frontier, term, returned } = await openSlow();
      const request = aRequest({ worker: "worker-w", returned: [returned], lookaheadMs: 500 });

      const lost = proxy.loseNextReply("worker-w");
      const { grants, terms } = await frontier.lease(request);
      await lost;

      expect([grants, terms]).toEqual([[], []]);
      const { nextDueAt = 0 } = await frontier.lease(aRequest({ max: 0 }));
      expect(nextDueAt - term.startsAt).toBeGreaterThanOrEqual(TERM_MS + 2 * SLOW.intervalMs - CLOCK_ERROR_MS);
      expect(await countsOf(frontier, "slow")).toEqual({ submitted: 8, done: 1, queued: 7 });
    });

    it("F3 that was returned does not return the term that another worker has got since", async () => {
      const { proxy, stage, frontier, returned } = await openSlow();
      const other = await stage.open({ url: server.url });

      const lost = proxy.loseNextReply("slow.test");
      const returning = frontier.returnTerms([returned]);
      await lost;
      const { terms } = await other.lease(aRequest({ worker: "other", max: 1, lookaheadMs: 500 }));
      await returning;

      expect(terms).toHaveLength(1);
      expect(await grantsOf(other, { worker: "third", lookaheadMs: 500 })).toEqual([]);
    });
  });
});
