import { expect } from "vitest";
import type { Suite } from "./backend.ts";
import { aJob, countsOf, grantsOf, settlementOf, submit, tasksAt } from "./makers.ts";

/** Backpressure for submitters, never for workers (F13). */
export function backpressure({ open, test }: Suite): void {
  test("F13 accepts tasks up to the cap, and returns how many it accepted and when to retry", async () => {
    const { frontier } = await open({ maxPending: 10 });
    await frontier.createJob(aJob());

    const answer = await frontier.enqueue("job", tasksAt("a.test", 15));

    expect(answer).toEqual({
      queued: 10,
      duplicates: 0,
      refused: [],
      full: { taken: 10, retryAfterMs: expect.any(Number) },
    });
    expect(answer.full?.retryAfterMs).toBeGreaterThan(0);
    expect(await countsOf(frontier)).toEqual({ submitted: 10, queued: 10 });
  });

  test("F13 accepts nothing while it is full, and the rest later", async () => {
    const { frontier } = await open({ maxPending: 10 });
    const tasks = tasksAt("a.test", 15);
    await submit(frontier, aJob(), tasks.slice(0, 10));
    expect(await frontier.enqueue("job", tasks.slice(10))).toMatchObject({ queued: 0, full: { taken: 0 } });

    await grantsOf(frontier, { max: 4 });
    expect(await frontier.enqueue("job", tasks.slice(10))).toMatchObject({ queued: 4, full: { taken: 4 } });
    await frontier.cancel("job");
    await frontier.createJob(aJob({ id: "next" }));
    expect(await frontier.enqueue("next", tasks.slice(0, 10))).toEqual({ queued: 10, duplicates: 0, refused: [] });
  });

  test("F13 counts the waiting tasks of all jobs", async () => {
    const { frontier } = await open({ maxPending: 10 });
    await submit(frontier, aJob({ id: "one" }), tasksAt("a.test", 8));
    await frontier.createJob(aJob({ id: "two" }));

    expect(await frontier.enqueue("two", tasksAt("a.test", 8))).toMatchObject({ queued: 2, full: { taken: 2 } });
  });

  test("F13 never delays a worker: a full broker accepts all links of a page", async () => {
    const { frontier } = await open({ maxPending: 10 });
    await submit(frontier, aJob(), tasksAt("a.test", 10));
    const [grant] = await grantsOf(frontier, { max: 1 });
    if (grant === undefined) throw new Error("expected a due task");
    await frontier.enqueue("job", tasksAt("c.test", 1));

    const { states } = await frontier.settle([settlementOf(grant, { discovered: tasksAt("b.test", 50) })]);

    expect(states).toEqual(["done"]);
    expect(await countsOf(frontier)).toEqual({ submitted: 11, discovered: 50, done: 1, queued: 60 });
    expect(await frontier.enqueue("job", tasksAt("d.test", 1))).toMatchObject({ full: { taken: 0 } });
  });

  test("F13 reports the cap in the middle of a large submission", async () => {
    const { frontier } = await open({ maxPending: 700 });
    await frontier.createJob(aJob());

    const answer = await frontier.enqueue("job", tasksAt("a.test", 1200));

    expect(answer).toMatchObject({ queued: 700, full: { taken: 700 } });
  });
}
