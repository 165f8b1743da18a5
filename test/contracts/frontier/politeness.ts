import { expect } from "vitest";
import { type SitePolicy, TERM_MS } from "../../../src/domain/politeness.ts";
import { START_AT, type Suite } from "./backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  drain,
  grantsOf,
  oneGrant,
  settleAll,
  settleAndReturn,
  submit,
  tasksAt,
  UNLIMITED,
} from "./makers.ts";

const SLOW: SitePolicy = { intervalMs: 1000, burst: 1, perSite: 10 };

/** Rate, burst, concurrency, and which policy applies (F2, F3). */
export function politeness({ open, test, testWith }: Suite): void {
  test("F2 spaces the requests of a site by its interval, within a term and from term to term", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: { ...SLOW, intervalMs: 300 } }), tasksAt("a.test", 9));

    const sends = (await drain(broker)).map(({ sentAt }) => sentAt - START_AT);

    expect(sends).toEqual(Array.from({ length: 9 }, (_, nth) => nth * 300));
  });

  test("F2 allows a burst after a pause, and at most that many requests within any one interval", async () => {
    const broker = await open();
    const policy = { intervalMs: 200, burst: 3, perSite: 10 };
    await submit(broker.frontier, aJob({ policy }), tasksAt("a.test", 30));

    const sends = (await drain(broker)).map(({ sentAt }) => sentAt - START_AT);

    expect(sends.slice(0, 4)).toEqual([0, 0, 0, 200]);
    sends.slice(policy.burst).forEach((at, nth) => {
      expect(at - (sends[nth] ?? 0)).toBeGreaterThanOrEqual(policy.intervalMs);
    });
  });

  test("F2 keeps the rate however late or often workers call lease", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ policy: { ...SLOW, intervalMs: 100, burst: 2 } }), tasksAt("a.test", 200));
    const sends: number[] = [];
    for (let nth = 0; nth < 300; nth++) {
      clock.advance((nth * 37.7) % 91);
      const answer = await frontier.lease(aRequest({ max: 1 }));
      sends.push(...answer.terms.map(({ startsAt }) => startsAt));
      await settleAndReturn(frontier, answer);
    }
    expect(sends.length).toBeGreaterThan(80);
    sends.slice(2).forEach((at, nth) => {
      expect(at - (sends[nth] ?? 0)).toBeGreaterThanOrEqual(100);
    });
  });

  test("F2 a site without a rate has no term", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));

    expect(await frontier.lease(aRequest())).toMatchObject({ grants: [{ site: "a.test" }], terms: [] });
  });

  test("F2 limits the concurrency of a site across workers and jobs", async () => {
    const { frontier } = await open();
    const policy = { ...UNLIMITED, perSite: 2 };
    await submit(frontier, aJob({ id: "one", policy }), tasksAt("a.test", 3));
    await submit(frontier, aJob({ id: "two", policy }), tasksAt("a.test", 3));

    const first = await oneGrant(frontier, { worker: "w1" });
    await oneGrant(frontier, { worker: "w2" });
    expect(await grantsOf(frontier, { worker: "w3" })).toEqual([]);

    await settleAll(frontier, [first]);
    expect(await grantsOf(frontier, { worker: "w3" })).toHaveLength(1);
    expect(await grantsOf(frontier, { worker: "w1" })).toEqual([]);
  });

  test("F2 a blocked site does not delay another", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: SLOW }), [...tasksAt("a.test", 5), ...tasksAt("b.test", 1)]);
    await grantsOf(frontier, { max: 2 });

    await frontier.enqueue("job", [aTask("https://c.test/")]);

    expect((await grantsOf(frontier)).map(({ site }) => site)).toEqual(["c.test"]);
  });

  test("F2 applies the strictest value of each limit among the jobs that have tasks at a site", async () => {
    const { frontier } = await open();
    await submit(
      frontier,
      aJob({ id: "lax", policy: { intervalMs: 100, burst: 5, perSite: 1 } }),
      tasksAt("a.test", 2),
    );
    expect(await policyAt("a.test")).toEqual({ intervalMs: 100, burst: 5, perSite: 1 });

    await submit(
      frontier,
      aJob({ id: "strict", policy: { intervalMs: 1000, burst: 2, perSite: 4 } }),
      tasksAt("a.test", 1),
    );
    expect(await policyAt("a.test")).toEqual({ intervalMs: 1000, burst: 2, perSite: 1 });

    await frontier.cancel("strict");
    expect(await policyAt("a.test")).toEqual({ intervalMs: 100, burst: 5, perSite: 1 });

    async function policyAt(name: string): Promise<SitePolicy | undefined> {
      return (await frontier.listSites(10)).find(({ site }) => site === name)?.policy;
    }
  });

  test("F2 applies the policy that a job sets for one site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ sites: { "slow.test": SLOW } }), [
      ...tasksAt("slow.test", 3),
      ...tasksAt("b.test", 3),
    ]);

    expect((await grantsOf(frontier)).map(({ site }) => site).sort()).toEqual([
      "b.test",
      "b.test",
      "b.test",
      "slow.test",
    ]);
  });

  test("F2 the operator's policy overrides all jobs and the crawl-delay, until it is cleared", async () => {
    const { frontier } = await open();
    const operator = { intervalMs: 10, burst: 4, perSite: 7 };
    await submit(frontier, aJob({ policy: SLOW, robots: true, sites: { "a.test": SLOW } }), tasksAt("a.test", 5));
    await frontier.keepRobots("a.test", robotsUntil(START_AT + 1e9), 5000);

    await frontier.setSitePolicy("a.test", operator);
    expect((await frontier.listSites(1))[0]?.policy).toEqual(operator);

    await frontier.setSitePolicy("a.test", undefined);
    expect((await frontier.listSites(1))[0]?.policy).toEqual({ intervalMs: 5000, burst: 1, perSite: 10 });
  });

  test("F3 counts the requests of a dead worker against the concurrency until its leases end", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: { ...UNLIMITED, perSite: 1 } }), tasksAt("a.test", 2));
    await oneGrant(frontier, { worker: "gone", leaseMs: 5000 });

    clock.advance(4999);
    await frontier.reap(10);
    expect(await grantsOf(frontier)).toEqual([]);

    clock.advance(1);
    await frontier.reap(10);
    expect(await grantsOf(frontier)).toHaveLength(1);
  });

  testWith("sharing", "F3 enforces rate, concurrency and backoff after a restart", async ({ another }) => {
    const broker = await open();
    const { clock } = broker;
    await submit(broker.frontier, aJob({ policy: SLOW }), [...tasksAt("a.test", 2), ...tasksAt("b.test", 2)]);
    await submit(broker.frontier, aJob({ id: "c", policy: { ...UNLIMITED, perSite: 1 } }), tasksAt("c.test", 2));
    const grants = await grantsOf(broker.frontier);
    await settleAll(
      broker.frontier,
      grants.filter(({ site }) => site === "a.test"),
    );
    await settleAll(
      broker.frontier,
      grants.filter(({ site }) => site === "b.test"),
      {
        site: { kind: "throttled", retryAfterMs: 60_000 },
      },
    );
    await broker.frontier.close();

    const frontier = await another(broker);
    const dueAt = START_AT + TERM_MS + 1000;
    expect(await frontier.lease(aRequest())).toEqual({ grants: [], terms: [], nextDueAt: dueAt });
    clock.advanceTo(dueAt);
    expect((await grantsOf(frontier)).map(({ site }) => site)).toEqual(["a.test"]);
    clock.advanceTo(START_AT + 60_000);
    expect((await grantsOf(frontier)).map(({ site }) => site)).toEqual(["b.test"]);
  });

  testWith("sharing", "F3 enforces rate and concurrency across processes", async ({ another }) => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: { intervalMs: 1000, burst: 2, perSite: 2 } }), tasksAt("a.test", 9));
    const handles = [await another(broker), await another(broker), broker.frontier];

    const answers = await Promise.all(handles.map((frontier) => frontier.lease(aRequest())));

    expect(answers.flatMap(({ terms }) => terms)).toHaveLength(1);
    expect(answers.flatMap(({ grants }) => grants)).toHaveLength(2);
  });
}

function robotsUntil(freshUntil: number) {
  return { kind: "file" as const, text: "", fetchedAt: START_AT, freshUntil };
}
