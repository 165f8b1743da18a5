import { expect } from "vitest";
import { TERM_MS } from "../../../src/domain/politeness.ts";
import { START_AT, type Suite } from "./backend.ts";
import { aJob, aRequest, aTask, drain, grantsOf, oneGrant, settlementOf, submit, tasksAt, urlsOf } from "./makers.ts";

/** Grants, and when the next task is due (F1, F2, F18). */
export function leasing({ open, test, testWith }: Suite): void {
  test("F1 grants a task to one worker only, however many call lease at once", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [aTask("https://a.test/")]);

    const workers = Array.from({ length: 20 }, (_, nth) => `worker-${nth}`);
    const answers = await Promise.all(workers.map((worker) => frontier.lease(aRequest({ worker, max: 1 }))));

    expect(answers.flatMap(({ grants }) => grants)).toHaveLength(1);
  });

  testWith("sharing", "F1 grants a task to one process only, however many call lease at once", async ({ another }) => {
    const broker = await open();
    await submit(broker.frontier, aJob(), tasksAt("a.test", 30));
    const handles = [broker.frontier, await another(broker), await another(broker), await another(broker)];

    const calls = handles.flatMap((frontier) => Array.from({ length: 5 }, () => grantsOf(frontier, { max: 2 })));
    const urls = urlsOf((await Promise.all(calls)).flat());

    expect(urls).toHaveLength(30);
    expect(new Set(urls).size).toBe(30);
  });

  test("F1 returns all fields of the task", async () => {
    const { frontier } = await open();
    const task = aTask("https://a.test/x", {
      kind: "render",
      depth: 3,
      handler: "detail",
      carry: { page: 2 },
      redirects: 1,
    });
    await submit(frontier, aJob(), [task]);

    expect(await grantsOf(frontier)).toEqual([
      {
        taskId: expect.any(String),
        token: 1,
        jobId: "job",
        url: "https://a.test/x",
        site: "a.test",
        kind: "render",
        depth: 3,
        attempt: 1,
        handler: "detail",
        carry: { page: 2 },
        redirects: 1,
        mustFetchRobots: false,
      },
    ]);
  });

  test("F1 a grant has no fields that the task does not have", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [aTask("https://a.test/")]);

    const grant = await oneGrant(frontier);

    expect(Object.keys(grant)).not.toContain("handler");
    expect(Object.keys(grant)).not.toContain("carry");
    expect(grant.redirects).toBe(0);
  });

  test("F1 gives every grant of a task a larger token", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [aTask("https://a.test/")]);
    const first = await oneGrant(frontier);
    await frontier.release([first]);

    const second = await oneGrant(frontier);

    expect(second.taskId).toBe(first.taskId);
    expect(second.token).toBeGreaterThan(first.token);
  });

  test("F1 grants up to `max` tasks, and only of the given queues", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [...tasksAt("a.test", 3), aTask("https://a.test/r", { queue: "render" })]);

    expect(await grantsOf(frontier, { max: 0 })).toEqual([]);
    expect(await grantsOf(frontier, { queues: ["parse"] })).toEqual([]);
    expect(await grantsOf(frontier, { queues: [] })).toEqual([]);
    expect(urlsOf(await grantsOf(frontier, { queues: ["render"] }))).toEqual(["https://a.test/r"]);
    expect(await grantsOf(frontier, { max: 2 })).toHaveLength(2);
    expect(await grantsOf(frontier, { queues: ["render", "fetch"] })).toHaveLength(1);
  });

  test("F2 returns when the next task is due, and grants it at that time", async () => {
    // Intervals whose sums have rounding errors.
    for (const intervalMs of [7.77, 86.3316, 106.5373, 228.4986, 333.3]) {
      const broker = await open();
      broker.clock.advance(intervalMs / 3);
      const policy = { intervalMs, burst: 4, perSite: 5 };
      await submit(broker.frontier, aJob({ policy }), tasksAt("a.test", 20));

      // `drain` calls `lease` exactly at each `nextDueAt`, and fails if the result is neither a grant nor a later time.
      expect(await drain(broker)).toHaveLength(20);
    }
  });

  test("F2 returns the next due time together with the grants", async () => {
    const { frontier } = await open();
    const policy = { intervalMs: 1000, burst: 1, perSite: 5 };
    await submit(frontier, aJob({ policy }), tasksAt("a.test", 2));

    const { grants, nextDueAt } = await frontier.lease(aRequest());

    expect(grants).toHaveLength(1);
    // If the term is not returned, its last request may leave at its last instant.
    expect(nextDueAt).toBe(START_AT + TERM_MS + 1000);
  });

  test("F2 returns that more tasks are due now if `max` was reached", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));

    const { nextDueAt } = await frontier.lease(aRequest({ max: 1 }));

    expect(nextDueAt).toBeLessThanOrEqual(clock.now());
  });

  test("F2 returns no due time if only a change can make a task due", async () => {
    const { frontier } = await open();
    expect(await frontier.lease(aRequest())).toEqual({ grants: [], terms: [], nextDueAt: undefined });

    const policy = { intervalMs: 0, burst: 1, perSite: 1 };
    await submit(frontier, aJob({ policy }), tasksAt("a.test", 2));
    await oneGrant(frontier);

    // The second task waits for the end of the first, whose time is unknown.
    expect(await frontier.lease(aRequest())).toEqual({ grants: [], terms: [], nextDueAt: undefined });
  });

  test("F2 a job with nothing due has not finished", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ policy: { intervalMs: 1000, burst: 1, perSite: 1 } }), tasksAt("a.test", 2));
    await frontier.seal("job");
    await frontier.settle([settlementOf(await oneGrant(frontier))]);

    expect(await grantsOf(frontier)).toEqual([]);
    expect((await frontier.findJob("job"))?.state).toBe("running");
  });

  test("F2 wakes a waiting worker when tasks are queued, at the given time, and on abort", async () => {
    const { frontier, clock } = await open();
    await frontier.createJob(aJob());
    const stop = new AbortController();

    const queued = frontier.waitForWork(clock.now() + 1e9, stop.signal);
    await frontier.enqueue("job", [aTask("https://a.test/")]);
    await queued;

    const timed = frontier.waitForWork(clock.now() + 50, stop.signal);
    clock.advance(50);
    await timed;

    const stopped = frontier.waitForWork(clock.now() + 1e9, stop.signal);
    stop.abort();
    await stopped;
    await frontier.waitForWork(clock.now() + 1e9, stop.signal);
  });

  test("F18 uses only the clock it was given", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: { intervalMs: 5, burst: 1, perSite: 5 } }), tasksAt("a.test", 2));
    // The machine's clock is far ahead: if anything used it, all tasks would be due and all leases expired.
    const { terms } = await frontier.lease(aRequest({ max: 1, leaseMs: 5 }));

    expect(terms).toMatchObject([{ startsAt: START_AT, endsAt: START_AT + TERM_MS }]);
    expect(await grantsOf(frontier)).toEqual([]);
    expect(await frontier.reap(100)).toBe(0);
    expect((await frontier.findJob("job"))?.createdAt).toBe(START_AT);
    clock.advance(TERM_MS + 5);
    expect(await grantsOf(frontier)).toHaveLength(1);
    expect(await frontier.reap(100)).toBe(1);
  });
}
