import { expect } from "vitest";
import { START_AT, type Suite } from "./backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  countsOf,
  grantsOf,
  oneGrant,
  settleAll,
  settlementOf,
  submit,
  tasksAt,
  viewOf,
} from "./makers.ts";

/** Pause, resume, cancel, limits and deadlines of jobs (F12). */
export function control(suite: Suite): void {
  pausing(suite);
  cancelling(suite);
  deadlines(suite);
  limits(suite);
}

function pausing({ open, test }: Suite): void {
  test("F12 grants no tasks of a paused job, and all of them after a resume", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 3));

    expect(await frontier.pause("job")).toMatchObject({ state: "paused", counts: { queued: 3 } });
    expect(await frontier.lease(aRequest())).toEqual({
      grants: [],
      terms: [],
      nextDueAt: undefined,
    });
    await frontier.enqueue("job", tasksAt("b.test", 2));
    expect(await grantsOf(frontier)).toEqual([]);

    expect(await frontier.resume("job")).toMatchObject({ state: "running" });
    expect(await grantsOf(frontier)).toHaveLength(5);
  });

  test("F12 ignores the policy of a paused job", async () => {
    const { frontier } = await open();
    const lax = { intervalMs: 100, burst: 2, perSite: 5 };
    const strict = { intervalMs: 9000, burst: 1, perSite: 1 };
    await submit(frontier, aJob({ id: "lax", policy: lax }), tasksAt("a.test", 2));
    await submit(frontier, aJob({ id: "strict", policy: strict }), tasksAt("a.test", 2));

    await frontier.pause("strict");
    expect((await frontier.listSites(1))[0]?.policy).toEqual(lax);
    await frontier.enqueue("strict", [aTask("https://a.test/more", { priority: 0 })]);
    expect((await frontier.listSites(1))[0]?.policy).toEqual(lax);

    await frontier.resume("strict");
    expect((await frontier.listSites(1))[0]?.policy).toEqual(strict);
  });

  test("F12 pausing a paused job and resuming a running one are no-ops", async () => {
    const { frontier } = await open();
    await frontier.createJob(aJob());

    expect((await frontier.resume("job")).state).toBe("running");
    await frontier.pause("job");
    expect((await frontier.pause("job")).state).toBe("paused");
  });

  test("F12 accepts the results of tasks that were leased when their job was paused", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const [one, two] = await grantsOf(frontier);
    if (one === undefined || two === undefined) throw new Error("expected two due tasks");
    await frontier.pause("job");

    await frontier.settle([settlementOf(one, { discovered: tasksAt("b.test", 1) })]);
    await frontier.release([two]);

    expect(await countsOf(frontier)).toEqual({ submitted: 2, discovered: 1, done: 1, queued: 2 });
    expect(await grantsOf(frontier)).toEqual([]);
  });

  test("F12 a job whose last task ended while it was paused finishes when it is resumed", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    const grant = await oneGrant(frontier);
    await frontier.pause("job");
    expect((await frontier.settle([settlementOf(grant)])).finished).toEqual([]);

    expect(await frontier.resume("job")).toMatchObject({ state: "finished" });
  });

  test("F12 an ended job cannot be paused, resumed or cancelled", async () => {
    const { frontier } = await open();
    await frontier.createJob(aJob());
    await frontier.seal("job");

    for (const call of ["pause", "resume", "cancel"] as const) {
      await expect(frontier[call]("job")).rejects.toMatchObject({ code: "JOB_ENDED" });
    }
    expect((await viewOf(frontier)).state).toBe("finished");
  });
}

function cancelling({ open, test }: Suite): void {
  test("F12 a cancel ends a job at once if no task is leased", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 3));

    const view = await frontier.cancel("job");

    expect(view).toMatchObject({ state: "cancelled", finishedAt: START_AT, counts: { cancelled: 3, queued: 0 } });
    expect(await grantsOf(frontier)).toEqual([]);
    expect((await frontier.listSites(1))[0]?.waiting).toBe(0);
    await expect(frontier.enqueue("job", [])).rejects.toMatchObject({ code: "JOB_ENDED" });
    clock.advance(5);
    expect(await frontier.cancel("job")).toMatchObject({ finishedAt: START_AT, counts: { cancelled: 3 } });
    expect(await frontier.seal("job")).toBe(false);
  });

  test("F12 a cancelled job ends with its last leased task, and counts its results", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 6));
    const grants = await grantsOf(frontier, { max: 5 });
    expect(await frontier.cancel("job")).toMatchObject({
      state: "cancelled",
      finishedAt: undefined,
      counts: { leased: 5 },
    });

    const [done, retried, dead, released, crashed] = grants;
    if (!done || !retried || !dead || !released || !crashed) throw new Error("expected five due tasks");
    await frontier.settle([settlementOf(done, { discovered: tasksAt("b.test", 2) })]);
    await frontier.settle([settlementOf(retried, { outcome: { kind: "retry", because: "timeout" } })]);
    await frontier.settle([settlementOf(dead, { outcome: { kind: "dead", because: "too_big" } })]);
    await frontier.release([released]);
    expect((await viewOf(frontier)).finishedAt).toBeUndefined();
    await frontier.abandon("worker");

    expect(await viewOf(frontier)).toMatchObject({ state: "cancelled", finishedAt: START_AT });
    expect(await countsOf(frontier)).toEqual({
      submitted: 6,
      discovered: 2,
      done: 1,
      dead: 1,
      cancelled: 4,
      refused: 2,
    });
  });

  test("F12 cancels a paused job and its waiting retries", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "retry", because: "timeout" } });
    await frontier.pause("job");

    expect((await frontier.cancel("job")).counts).toMatchObject({ cancelled: 2, queued: 0, delayed: 0 });
  });

  test("F12 does not affect other jobs at the same site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "one" }), tasksAt("a.test", 3));
    await submit(frontier, aJob({ id: "two" }), tasksAt("a.test", 3));

    await frontier.cancel("one");

    expect((await grantsOf(frontier)).map(({ jobId }) => jobId)).toEqual(["two", "two", "two"]);
  });
}

function deadlines({ open, test }: Suite): void {
  test("F12 grants no tasks of a job after its deadline, and the reaper ends it", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1000 } }), tasksAt("a.test", 3));
    await settleAll(frontier, [await oneGrant(frontier)]);

    clock.advance(1000);
    expect(await grantsOf(frontier)).toEqual([]);
    expect((await viewOf(frontier)).state).toBe("running");
    while ((await frontier.reap(100)) > 0);

    expect(await viewOf(frontier)).toMatchObject({ state: "finished", sealed: true, finishedAt: START_AT + 1000 });
    expect(await countsOf(frontier)).toEqual({ submitted: 3, done: 1, cancelled: 2 });
  });

  test("F12 ends a job after its deadline when its leased tasks have ended", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1000 } }), tasksAt("a.test", 2));
    const grant = await oneGrant(frontier);
    clock.advance(1000);
    await frontier.reap(100);
    expect((await viewOf(frontier)).state).toBe("running");

    const { finished } = await frontier.settle([settlementOf(grant, { discovered: tasksAt("b.test", 1) })]);

    expect(finished).toEqual(["job"]);
    expect(await countsOf(frontier)).toEqual({ submitted: 2, discovered: 1, done: 1, cancelled: 1, refused: 1 });
  });

  test("F12 the deadline of one job does not delay another job at the same site", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ id: "late", limits: { deadlineAt: START_AT + 1000 } }), tasksAt("a.test", 3));
    await submit(frontier, aJob({ id: "other" }), [...tasksAt("a.test", 1), ...tasksAt("b.test", 1)]);
    clock.advance(1000);

    expect((await grantsOf(frontier, { max: 2 })).map(({ jobId }) => jobId)).toEqual(["other", "other"]);
  });

  test("F12 a job past its deadline has no due tasks, with or without a reaper", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1000 } }), tasksAt("a.test", 3));
    clock.advance(1000);

    await frontier.lease(aRequest());

    expect((await frontier.lease(aRequest())).nextDueAt).toBeUndefined();
  });
}

function limits({ open, test }: Suite): void {
  test("F12 a higher page limit admits new links; refused links stay refused", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ limits: { pages: 2 } }), tasksAt("a.test", 3));
    expect(await countsOf(frontier)).toEqual({ submitted: 3, queued: 2, refused: 1 });

    expect(await frontier.setLimits("job", { pages: 4 })).toMatchObject({ limits: { pages: 4 } });
    await settleAll(frontier, [await oneGrant(frontier)], { discovered: tasksAt("b.test", 3) });

    expect(await countsOf(frontier)).toEqual({ submitted: 3, discovered: 3, done: 1, queued: 3, refused: 2 });
  });

  test("F12 a page limit below the admitted pages refuses new links, and keeps the queued tasks", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ limits: { pages: 10 } }), [...tasksAt("a.test", 3), ...tasksAt("b.test", 2)]);

    await frontier.setLimits("job", { pages: 2 });
    const grants = await grantsOf(frontier);
    await settleAll(frontier, grants.slice(0, 1), { discovered: [...tasksAt("c.test", 2), ...tasksAt("a.test", 1)] });
    await settleAll(frontier, grants.slice(1));
    await frontier.seal("job");

    expect(grants).toHaveLength(5);
    expect(await countsOf(frontier)).toEqual({ submitted: 5, discovered: 3, done: 5, duplicate: 1, refused: 2 });
    expect(await viewOf(frontier)).toMatchObject({ state: "finished", limits: { pages: 2 } });
  });

  test("F12 counts every page once when the page limit is lowered and raised", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ limits: { pages: 10 } }), tasksAt("a.test", 4));

    await frontier.setLimits("job", { pages: 1 });
    await frontier.setLimits("job", { pages: 6 });
    await frontier.setLimits("job", { pages: 6 });
    const answer = await frontier.enqueue("job", [...tasksAt("b.test", 2), ...tasksAt("c.test", 2)]);

    expect(answer.queued).toBe(2);
    expect(answer.refused.map(({ reason }) => reason)).toEqual(["page_limit", "page_limit"]);
  });

  test("F12 removes a page limit", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ limits: { pages: 1 } }), tasksAt("a.test", 1));

    expect((await frontier.setLimits("job", { pages: null })).limits.pages).toBeUndefined();

    expect((await frontier.enqueue("job", tasksAt("b.test", 20))).queued).toBe(20);
  });

  test("F12 moves a deadline, even if it has passed, while the job has not ended", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1000 } }), tasksAt("a.test", 3));
    clock.advance(1000);
    expect(await grantsOf(frontier)).toEqual([]);

    expect(await frontier.setLimits("job", { deadlineAt: START_AT + 5000 })).toMatchObject({
      limits: { deadlineAt: START_AT + 5000 },
      counts: { queued: 3 },
    });
    expect(await grantsOf(frontier, { max: 1 })).toHaveLength(1);
    clock.advance(4000);
    expect(await grantsOf(frontier)).toEqual([]);
    expect(await frontier.setLimits("job", { deadlineAt: null })).toMatchObject({ limits: { deadlineAt: undefined } });
    expect(await grantsOf(frontier)).toHaveLength(2);
  });

  test("F12 a deadline in the past ends the job", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), [...tasksAt("a.test", 2), ...tasksAt("b.test", 1)]);
    await settleAll(frontier, [await oneGrant(frontier)]);
    clock.advance(5000);

    const view = await frontier.setLimits("job", { deadlineAt: START_AT + 1000 });

    expect(view).toMatchObject({ state: "finished", finishedAt: START_AT + 5000 });
    expect(await countsOf(frontier)).toEqual({ submitted: 3, done: 1, cancelled: 2 });
  });

  test("F12 refuses to change the limits of a job that has ended or passed its deadline", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1000 } }), tasksAt("a.test", 1));
    const grant = await oneGrant(frontier);
    clock.advance(1000);
    await frontier.reap(100);

    await expect(frontier.setLimits("job", { deadlineAt: null })).rejects.toMatchObject({ code: "JOB_ENDED" });
    await settleAll(frontier, [grant]);
    await expect(frontier.setLimits("job", { pages: 5 })).rejects.toMatchObject({ code: "JOB_ENDED" });
    await expect(frontier.setLimits("nope", { pages: 5 })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("F12 a paused job stays paused when its limits change", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ limits: { pages: 5 } }), tasksAt("a.test", 1));
    await frontier.pause("job");

    expect(await frontier.setLimits("job", { pages: 7 })).toMatchObject({ state: "paused", limits: { pages: 7 } });
    expect(await grantsOf(frontier)).toEqual([]);
  });
}
