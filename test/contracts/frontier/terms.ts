import { expect } from "vitest";
import { type SitePolicy, TERM_MS, type Term } from "../../../src/domain/politeness.ts";
import { NO_RESPONSES } from "../../../src/domain/throttling.ts";
import { type AnyFrontier, START_AT, type Suite } from "./backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  drain,
  grantsOf,
  pathsOf,
  returnedAfter,
  type SentGrant,
  settleAll,
  submit,
  tasksAt,
} from "./makers.ts";

const SLOW: SitePolicy = { intervalMs: 1000, burst: 1, perSite: 10 };
const BRISK: SitePolicy = { intervalMs: 100, burst: 1, perSite: 3 };

/** The right to send to a site (F2, F3, F6, F23), and how a change of rate affects earlier requests (F12). */
export function terms(suite: Suite): void {
  granting(suite);
  returning(suite);
  changing(suite);
}

function granting({ open, test }: Suite): void {
  test("F2 a term has as many tasks as fit into a second, and more than may run at once", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));

    const { grants, terms: granted } = await frontier.lease(aRequest());

    expect(grants).toHaveLength(10);
    expect(granted).toEqual([
      {
        ...{ site: "a.test", number: expect.any(Number), intervalMs: 100, burst: 1, arrivalAt: 0, concurrent: 3 },
        ...{ startsAt: START_AT, endsAt: START_AT + TERM_MS, slowdown: 1, throttling: NO_RESPONSES },
      },
    ]);
  });

  test("F2 no other worker gets tasks or a term of the site until the term ends", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    const first = await grantsOf(frontier, { worker: "w1", max: 2 });

    expect(await grantsOf(frontier, { worker: "w2" })).toEqual([]);
    expect(await openTerm(frontier, "a.test", "w2")).toMatchObject({ startsAt: START_AT + TERM_MS + 100 });

    clock.advance(2 * TERM_MS + 200);
    await settleAll(frontier, first);
    expect(await grantsOf(frontier, { worker: "w3" })).toHaveLength(10);
  });

  test("F2 a worker that is due soon gets its term before, and the term starts in time", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 3));
    const [term] = (await frontier.lease(aRequest({ max: 1 }))).terms;
    await frontier.returnTerms([returnedAfter(term as Term, [START_AT])]);
    clock.advance(40);

    expect(await grantsOf(frontier, { lookaheadMs: 59 })).toEqual([]);
    const { terms: granted } = await frontier.lease(aRequest({ lookaheadMs: 60 }));
    expect(granted).toMatchObject([{ startsAt: START_AT + 100, endsAt: START_AT + 100 + TERM_MS }]);
  });

  test("F2 limits the tasks that start now, but not those that wait for their time", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ sites: { "a.test": BRISK } }), [...tasksAt("a.test", 9), ...tasksAt("b.test", 9)]);

    const sites = (await grantsOf(frontier, { max: 12, maxNow: 2 })).map(({ site }) => site);

    expect(sites.filter((site) => site === "b.test")).toHaveLength(2);
    expect(sites.filter((site) => site === "a.test")).toHaveLength(9);
  });

  test("F6 a task that was granted ahead of its turn counts a crash only if it is named", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 3));
    for (let crash = 0; crash < 2; crash++) {
      const grants = await grantsOf(frontier, { worker: "doomed" });
      expect(pathsOf(grants)).toEqual(["0", "1", "2"]);
      await frontier.abandon("doomed", crash === 0 ? undefined : grants.slice(0, 2));
      clock.advance(TERM_MS + 100);
    }
    // Task 0 has two crashes and is a suspect; task 1 was named once; task 2 has none.
    const grants = await grantsOf(frontier, { worker: "doomed" });
    expect(pathsOf(grants)).toEqual(["1", "2"]);
    await frontier.abandon("doomed", grants);
    clock.advance(TERM_MS + 100);
    expect(pathsOf(await grantsOf(frontier))).toEqual(["2"]);
  });
}

function returning({ open, test, testWith }: Suite): void {
  test("F3 without a return, the last request counts as sent at the last instant, with its whole burst", async () => {
    const { frontier } = await open();
    const policy = { intervalMs: 100, burst: 3, perSite: 10 };
    await submit(frontier, aJob({ policy }), tasksAt("a.test", 20));
    await grantsOf(frontier, { max: 1 });

    const { nextDueAt } = await frontier.lease(aRequest());

    expect(nextDueAt).toBe(START_AT + TERM_MS + 100);
  });

  test("F2 after a return, the site is due one interval after the last request", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: SLOW }), tasksAt("a.test", 3));
    const [term] = (await frontier.lease(aRequest())).terms;

    clock.advance(400);
    await frontier.returnTerms([returnedAfter(term as Term, [START_AT + 300])]);

    expect((await frontier.lease(aRequest())).nextDueAt).toBe(START_AT + 1300);
  });

  test("F2 a term that was returned before, or is not the last one, is not returned again", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: SLOW }), tasksAt("a.test", 3));
    const [first] = (await frontier.lease(aRequest())).terms;
    const unused = returnedAfter(first as Term, []);
    await frontier.returnTerms([unused]);
    const [second] = (await frontier.lease(aRequest())).terms;

    await frontier.returnTerms([unused, unused]);
    expect(await grantsOf(frontier)).toEqual([]);

    clock.advance(10);
    await frontier.returnTerms([returnedAfter(second as Term, [clock.now()])]);
    await frontier.returnTerms([returnedAfter(second as Term, [])]);
    expect((await frontier.lease(aRequest())).nextDueAt).toBe(clock.now() + 1000);
  });

  test("F2 a worker returns a term and gets the next one in one call", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    const { grants, terms: granted } = await frontier.lease(aRequest({ max: 2 }));
    clock.advance(150);
    await settleAll(frontier, grants);

    const returned = [returnedAfter(granted[0] as Term, [START_AT, START_AT + 100])];
    const next = await frontier.lease(aRequest({ returned, lookaheadMs: 100 }));

    expect(next.terms).toMatchObject([{ number: after(granted), startsAt: START_AT + 200, arrivalAt: START_AT + 200 }]);
    expect(next.grants).toHaveLength(10);
  });

  test("F2 a worker with unstarted tasks gets only the tasks that the next term lacks", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    const { grants, terms: granted } = await frontier.lease(aRequest({ max: 4 }));
    await settleAll(frontier, grants.slice(0, 1));
    clock.advance(50);

    const returned = [returnedAfter(granted[0] as Term, [START_AT], 3)];
    const next = await frontier.lease(aRequest({ returned, lookaheadMs: 100 }));

    expect(next.grants).toHaveLength(7);
    expect(next.terms).toMatchObject([{ number: after(granted), startsAt: START_AT + 100, concurrent: 3 }]);
  });

  test("F2 a worker with unstarted tasks keeps its term if it gets no other", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    const { grants, terms: granted } = await frontier.lease(aRequest({ max: 4 }));
    await settleAll(frontier, grants.slice(0, 1));
    clock.advance(50);

    const returned = [returnedAfter(granted[0] as Term, [START_AT], 3)];
    expect(await frontier.lease(aRequest({ returned }))).toMatchObject({ grants: [], terms: [] });

    clock.advance(100);
    expect(await grantsOf(frontier, { worker: "another" })).toEqual([]);
    await frontier.returnTerms([{ ...returned[0], unstarted: 0 } as ReturnType<typeof returnedAfter>]);
    await frontier.release(grants.slice(1));
    expect(await grantsOf(frontier, { worker: "another" })).toHaveLength(10);
  });

  test("F5 a worker that returns a term leaves the site to workers of other queues that wait there", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: BRISK }), [
      ...tasksAt("a.test", 9),
      aTask("https://a.test/r", { queue: "render" }),
    ]);
    const { grants, terms: granted } = await frontier.lease(aRequest({ max: 1 }));
    await settleAll(frontier, grants);
    clock.advance(100);

    const returned = [returnedAfter(granted[0] as Term, [START_AT])];
    expect(await frontier.lease(aRequest({ returned }))).toMatchObject({ grants: [], nextDueAt: START_AT + 100 });
    expect(pathsOf(await grantsOf(frontier, { queues: ["render"] }))).toEqual(["r"]);
  });

  test("F2 opens a term for a request without a task, and none at a site without a rate", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ sites: { "a.test": SLOW } }), [...tasksAt("a.test", 1), ...tasksAt("b.test", 1)]);

    expect(await openTerm(frontier, "b.test")).toBeUndefined();
    expect(await openTerm(frontier, "unknown.test")).toBeUndefined();
    const first = await openTerm(frontier, "a.test");
    expect(first).toMatchObject({ startsAt: START_AT, concurrent: 10 });

    const returned = returnedAfter(first as Term, [START_AT + 5]);
    const second = await frontier.openTerm({ worker: "worker", site: "a.test", returned });
    expect(second).toMatchObject({ number: after([first as Term]), startsAt: START_AT + 1005 });
  });

  testWith("sharing", "F3 a term holds across processes and a restart", async ({ another }) => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: SLOW }), tasksAt("a.test", 5));
    const [term] = (await broker.frontier.lease(aRequest())).terms;
    const frontier = await another(broker);

    expect(await grantsOf(frontier, { worker: "other" })).toEqual([]);
    broker.clock.advance(1000);
    await frontier.returnTerms([returnedAfter(term as Term, [START_AT])]);

    expect(await grantsOf(frontier, { worker: "other" })).toHaveLength(1);
  });
}

function changing({ open, test }: Suite): void {
  test("F12 a stricter rate counts from the last request, not from the next", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: { ...SLOW, intervalMs: 100 } }), tasksAt("a.test", 2));
    await sendAll(broker.frontier, 1);

    await broker.frontier.setPolicy("job", { ...SLOW, intervalMs: 5000 });

    expect(firstSend(await drain(broker))).toBe(START_AT + 5000);
  });

  test("F12 a stricter rate counts every request of the burst before it", async () => {
    const broker = await open();
    const policy = { intervalMs: 100, burst: 3, perSite: 10 };
    await submit(broker.frontier, aJob({ policy }), tasksAt("a.test", 4));
    await sendAll(broker.frontier, 3);

    await broker.frontier.setPolicy("job", { ...policy, intervalMs: 1000 });

    expect(firstSend(await drain(broker))).toBe(START_AT + 1000);
  });

  test("F12 a looser rate frees the site at once", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: { ...SLOW, intervalMs: 3_600_000 } }), tasksAt("a.test", 2));
    await sendAll(broker.frontier, 1);

    await broker.frontier.setPolicy("job", SLOW);

    expect(firstSend(await drain(broker))).toBe(START_AT + 1000);
  });

  test("F23 a change during a term applies when the term is returned, counted from its last request", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 5));
    const { grants, terms: granted } = await frontier.lease(aRequest({ max: 2 }));

    await frontier.setPolicy("job", { ...BRISK, intervalMs: 1000 });
    clock.advance(150);
    await settleAll(frontier, grants);
    await frontier.returnTerms([returnedAfter(granted[0] as Term, [START_AT, START_AT + 100])]);

    expect(firstSend(await drain(broker))).toBe(START_AT + 1100);
  });

  test("F23 a change reaches a site at the end of the term of a dead worker", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 5));
    await grantsOf(frontier, { max: 1 });

    await frontier.setPolicy("job", { ...BRISK, intervalMs: 1000 });

    expect((await frontier.lease(aRequest())).nextDueAt).toBe(START_AT + TERM_MS + 1000);
  });

  test("F23 tasks of a higher priority are granted with the next term of the site", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    const { grants, terms: granted } = await frontier.lease(aRequest({ max: 2 }));
    await frontier.enqueue("job", [aTask("https://a.test/urgent", { priority: 0 })]);
    clock.advance(200);
    await settleAll(frontier, grants);

    const returned = [returnedAfter(granted[0] as Term, [START_AT, START_AT + 100])];

    expect(pathsOf(await grantsOf(frontier, { returned }))).toEqual(["urgent"]);
  });

  test("F12 a job's rate can be changed while it runs, but not over its own policy for a site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ sites: { "b.test": SLOW } }), [...tasksAt("a.test", 1), ...tasksAt("b.test", 1)]);

    await frontier.setPolicy("job", { intervalMs: 70, burst: 2, perSite: 3 });

    expect((await frontier.listSites(10)).map(({ site, policy }) => [site, policy.intervalMs])).toEqual([
      ["a.test", 70],
      ["b.test", 1000],
    ]);
  });
}

/** The number of the term after this one. */
function after([term]: readonly Term[]): number {
  return (term?.number ?? Number.NaN) + 1;
}

function openTerm(frontier: AnyFrontier, site: string, worker = "worker"): Promise<Term | undefined> {
  return frontier.openTerm({ worker, site, returned: undefined });
}

/** Sends `count` requests at the start, and returns the term. */
async function sendAll(frontier: AnyFrontier, count: number): Promise<void> {
  const { grants, terms: granted } = await frontier.lease(aRequest({ max: count }));
  await settleAll(frontier, grants);
  const sends = Array.from({ length: count }, () => START_AT);
  await frontier.returnTerms([returnedAfter(granted[0] as Term, sends)]);
}

function firstSend([first]: readonly SentGrant[]): number | undefined {
  return first?.sentAt;
}
