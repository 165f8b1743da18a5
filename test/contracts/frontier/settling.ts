import { expect } from "vitest";
import type { Settlement } from "../../../src/frontier/frontier.ts";
import type { AnyFrontier, Suite } from "./backend.ts";
import { aJob, aTask, countsOf, grantsOf, oneGrant, settlementOf, submit, tasksAt, urlsOf, viewOf } from "./makers.ts";

/** Settling tasks, atomically (F7, F8). */
export function settling({ open, test, testWith }: Suite): void {
  const fullSettlement: Partial<Settlement> = {
    discovered: tasksAt("b.test", 3),
    refusedLinks: 2,
    site: { kind: "throttled", retryAfterMs: 9000 },
    tally: { pages: 1, records: 2, invalid: 3, bytes: 4 },
  };

  test("F7 a stale token changes nothing", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const stale = await oneGrant(frontier, { leaseMs: 1000 });
    clock.advance(1000);
    await frontier.reap(10);

    async function expectStale(): Promise<void> {
      const before = await everythingOf(frontier);
      for (const outcome of OUTCOMES) {
        const answer = await frontier.settle([settlementOf(stale, { ...fullSettlement, outcome })]);
        expect(answer).toEqual({ states: ["stale"], finished: [] });
      }
      expect(await everythingOf(frontier)).toEqual(before);
    }

    await expectStale(); // the lease has expired
    const next = await oneGrant(frontier);
    await expectStale(); // the task is leased again
    await frontier.settle([settlementOf(next)]);
    await expectStale(); // the task is settled
  });

  test("F7 a claim on an unknown task is stale", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));

    const claims = [
      { taskId: "4711", token: 1 },
      { taskId: "no number", token: 1 },
      { taskId: "1", token: 1 },
    ];
    const { states } = await frontier.settle(claims.map((claim) => settlementOf(claim)));

    expect(states).toEqual(["stale", "stale", "stale"]);
  });

  test("F7 the same claim settles once, even twice in one call", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const [one, two] = await grantsOf(frontier);
    if (one === undefined || two === undefined) throw new Error("expected two due tasks");

    const { states } = await frontier.settle([settlementOf(one), settlementOf(two), settlementOf(one)]);

    expect(states).toEqual(["done", "done", "stale"]);
    expect(await viewOf(frontier)).toMatchObject({ counts: { done: 2 }, tally: { pages: 2 } });
  });

  test("F8 changes outcome, links, refused links and tally together", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));

    await frontier.settle([settlementOf(await oneGrant(frontier), { ...fullSettlement, site: { kind: "ok" } })]);

    expect(await countsOf(frontier)).toEqual({ submitted: 1, discovered: 5, done: 1, queued: 3, refused: 2 });
    expect((await viewOf(frontier)).tally).toEqual({ pages: 1, records: 2, invalid: 3, bytes: 4 });
    expect(urlsOf(await grantsOf(frontier))).toEqual(urlsOf(tasksAt("b.test", 3)));
  });

  test("F8 links may be queued before their task is settled, also in a sealed job above the cap", async () => {
    const { frontier } = await open({ maxPending: 2 });
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    const grant = await oneGrant(frontier);
    const links = [...tasksAt("b.test", 700), ...tasksAt("c.test", 600), ...tasksAt("a.test", 1)];

    expect(await frontier.discover(grant, links)).toBe(true);
    expect(await frontier.discover(grant, [])).toBe(true);
    expect(await countsOf(frontier)).toEqual({
      ...{ submitted: 1, discovered: 1301, queued: 1300, leased: 1, duplicate: 1 },
    });
    await frontier.settle([settlementOf(grant)]);

    expect(await countsOf(frontier)).toMatchObject({ discovered: 1301, queued: 1300, done: 1 });
    expect(await viewOf(frontier)).toMatchObject({ state: "running" });
  });

  test("F8 a task that queued links and crashed queues them once", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const first = await oneGrant(frontier, { leaseMs: 1000 });
    await frontier.discover(first, tasksAt("b.test", 3));
    clock.advance(1000);
    await frontier.reap(10);

    expect(await frontier.discover(first, tasksAt("c.test", 3))).toBe(false);
    const second = (await grantsOf(frontier, { max: 10 })).find(({ taskId }) => taskId === first.taskId);
    if (second === undefined) throw new Error("the task was not granted again");
    expect(await frontier.discover(second, tasksAt("b.test", 3))).toBe(true);
    await frontier.settle([settlementOf(second)]);

    expect(await frontier.discover(second, tasksAt("c.test", 3))).toBe(false);
    expect(await countsOf(frontier)).toEqual({ submitted: 1, discovered: 6, leased: 3, done: 1, duplicate: 3 });
  });

  test("F8 a discovered link keeps its job from finishing", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");

    const grant = await oneGrant(frontier);
    const { finished } = await frontier.settle([settlementOf(grant, { discovered: [aTask("https://a.test/next")] })]);

    expect(finished).toEqual([]);
    expect((await viewOf(frontier)).state).toBe("running");
  });

  for (const outcome of OUTCOMES.filter(({ kind }) => kind !== "done")) {
    test(`F8 adds no links or tally of a page that ended ${outcome.kind}`, async () => {
      const { frontier } = await open();
      await submit(frontier, aJob(), tasksAt("a.test", 1));

      await frontier.settle([settlementOf(await oneGrant(frontier), { ...fullSettlement, outcome })]);

      const view = await viewOf(frontier);
      expect(view.counts.discovered).toBe(0);
      expect(view.tally).toEqual({ pages: 0, records: 0, invalid: 0, bytes: 0 });
    });
  }

  test("F8 counts a page that robots.txt forbids as refused", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));

    const outcome = { kind: "refused", because: "robots" } as const;
    await frontier.settle([settlementOf(await oneGrant(frontier), { outcome })]);

    expect(await countsOf(frontier)).toEqual({ submitted: 2, queued: 1, refused: 1 });
  });

  test("F8 settles tasks of several jobs in one call", async () => {
    const { frontier } = await open();
    for (const id of ["one", "two"]) {
      await submit(frontier, aJob({ id }), tasksAt(`${id}.test`, 1));
      await frontier.seal(id);
    }

    const { finished } = await frontier.settle((await grantsOf(frontier)).map((grant) => settlementOf(grant)));

    expect([...finished].sort()).toEqual(["one", "two"]);
  });

  testWith("sharing", "F8 the next process sees the whole settlement", async ({ another }) => {
    const broker = await open();
    await submit(broker.frontier, aJob(), tasksAt("a.test", 1));
    await broker.frontier.settle([settlementOf(await oneGrant(broker.frontier), fullSettlement)]);
    const before = await everythingOf(broker.frontier);
    await broker.frontier.close();

    const frontier = await another(broker);

    expect(await everythingOf(frontier)).toEqual(before);
  });
}

const OUTCOMES: Settlement["outcome"][] = [
  { kind: "done" },
  { kind: "retry", because: "timeout" },
  { kind: "dead", because: "http_status", status: 404 },
  { kind: "refused", because: "robots" },
];

/** The complete visible state of a frontier. */
async function everythingOf(frontier: AnyFrontier): Promise<unknown> {
  return [
    await frontier.listJobs(100),
    await frontier.listSites(100),
    await frontier.listDead({}, 100),
    await frontier.listHolders(),
  ];
}
