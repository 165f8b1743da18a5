import { expect } from "vitest";
import { TERM_MS } from "../../../src/domain/politeness.ts";
import { aloneQueue, SUSPECT_AFTER } from "../../../src/frontier/frontier.ts";
import { type Broker, START_AT, type Suite } from "./backend.ts";
import {
  ALL,
  aJob,
  aRequest,
  aTask,
  countsOf,
  grantsOf,
  oneGrant,
  pathsOf,
  SUSPECTS,
  settleAll,
  submit,
  tasksAt,
  UNLIMITED,
  viewOf,
} from "./makers.ts";

/** Suspects: tasks that two workers ran when they crashed, whether or not the tasks were the cause (F6). */
export function suspects(suite: Suite): void {
  findingSuspects(suite);
  clearingSuspects(suite);
  suspectsAmongOthers(suite);
}

function findingSuspects({ open, test }: Suite): void {
  test("F6 grants a suspect only to a worker that requests suspects", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 3));
    await makeSuspects(broker, 2);

    expect(pathsOf(await grantsOf(frontier))).toEqual(["2"]);
    const { grants, nextDueAt } = await frontier.lease(aRequest({ ...SUSPECTS, max: 1 }));
    expect(grants).toMatchObject([{ url: "https://a.test/0", attempt: 1, token: SUSPECT_AFTER + 1 }]);
    expect(nextDueAt).toBe(START_AT);
  });

  test("F6 returns when suspects of the given queues are due", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    const policy = { intervalMs: 10_000, burst: 1, perSite: 5 };
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await submit(frontier, aJob({ id: "slow", policy }), [aTask("https://b.test/", { queue: "slow" })]);
    const aloneDueAt = async (...queues: string[]) => (await frontier.lease(aRequest({ queues, max: 0 }))).aloneDueAt;
    expect(await aloneDueAt("fetch", "slow")).toBeUndefined();

    await makeSuspects(broker, 1);
    expect(await aloneDueAt("fetch", "slow")).toBe(START_AT);
    expect(await aloneDueAt("slow")).toBeUndefined();

    await oneGrant(frontier, { ...SUSPECTS, worker: "w" });
    expect(await aloneDueAt("fetch", "slow")).toBeUndefined();
    for (let nth = 0; nth < SUSPECT_AFTER; nth++) {
      await oneGrant(frontier, { queues: ["slow"], worker: "doomed" });
      await frontier.abandon("doomed");
      clock.advance(nth === 0 ? TERM_MS + 11_000 : 0);
    }
    const dueAt = await aloneDueAt("fetch", "slow");
    expect(dueAt).toBeGreaterThan(clock.now() + 9000);
    expect(await aloneDueAt(aloneQueue("slow"))).toBe(dueAt);
    await frontier.pause("slow");
    expect(await aloneDueAt("slow")).toBeUndefined();
  });

  test("F6 counts suspects with their queue, their site and their job", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), [...tasksAt("a.test", 3), ...tasksAt("b.test", 1)]);
    await makeSuspects(broker, 4);
    await frontier.enqueue("job", tasksAt("c.test", 1));

    expect(await frontier.listQueues()).toEqual([{ queue: "fetch", waiting: 5 }]);
    expect((await frontier.listSites(10)).map(({ waiting }) => waiting)).toEqual([3, 1, 1]);
    expect(await countsOf(frontier)).toEqual({ submitted: 5, queued: 5 });
    await settleAll(frontier, await grantsOf(frontier));
    expect(await frontier.listQueues()).toEqual([{ queue: "fetch", waiting: 4 }]);
  });

  test("F16 a suspect waits to run alone, and for its site like any other task", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob({ policy: { ...UNLIMITED, perSite: 2 } }), tasksAt("a.test", 4));
    await makeSuspects(broker, 2);
    const alone = "in job job: waits to run alone: two workers crashed while they ran it";

    expect(await frontier.explain({ url: "https://a.test/0" })).toMatchObject({ reasons: [alone], until: START_AT });
    await grantsOf(frontier);
    const busy = "in job job: 2 of 2 concurrent requests to the site are in flight";
    expect((await frontier.explain({ url: "https://a.test/0" })).reasons).toEqual([alone, busy]);
  });
}

function clearingSuspects({ open, test }: Suite): void {
  test("F6 a suspect that crashes a third worker becomes a dead letter of its normal queue", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await makeSuspects(broker, 2);

    await oneGrant(frontier, { ...SUSPECTS, worker: "w3" });
    await frontier.abandon("w3");

    const letters = await frontier.listDead({}, 10);
    expect(letters).toMatchObject([{ url: "https://a.test/0", reason: "crashed_worker" }]);
    await settleAll(frontier, [await oneGrant(frontier, SUSPECTS)]);
    expect(await countsOf(frontier)).toEqual({ submitted: 2, done: 1, dead: 1 });
    await frontier.replayDead({}, 10, 10);
    expect(await grantsOf(frontier, SUSPECTS)).toEqual([]);
    expect(await grantsOf(frontier)).toHaveLength(1);
  });

  test("F6 a clean end clears a suspect: its retry waits on the normal queue", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ retries: { max: 5, backoffMs: 10 } }), tasksAt("a.test", 1));
    await makeSuspects(broker, 1);

    const outcome = { kind: "retry", because: "timeout" } as const;
    await settleAll(frontier, [await oneGrant(frontier, SUSPECTS)], { outcome });

    clock.advance(1000);
    expect(await frontier.lease(aRequest({ ...SUSPECTS }))).toMatchObject({ grants: [], nextDueAt: undefined });
    await oneGrant(frontier, { worker: "w" });
    await frontier.abandon("w");
    expect(await grantsOf(frontier)).toMatchObject([{ attempt: 2 }]);
  });

  test("F6 a released suspect stays a suspect, also as a retry", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ retries: { max: 5, backoffMs: 10 } }), tasksAt("a.test", 2));
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "retry", because: "timeout" } });
    clock.advance(1000);
    await makeSuspects(broker, 2);
    expect(await countsOf(frontier)).toEqual({ submitted: 2, queued: 1, delayed: 1 });

    for (let nth = 0; nth < 3; nth++) await frontier.release(await grantsOf(frontier, SUSPECTS));

    expect(await grantsOf(frontier)).toEqual([]);
    expect(await grantsOf(frontier, SUSPECTS)).toHaveLength(2);
    expect(await countsOf(frontier)).toEqual({ submitted: 2, leased: 2 });
  });
}

function suspectsAmongOthers({ open, test }: Suite): void {
  test("F6 suspects obey the limits of their site, together with its other tasks", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob({ policy: { ...UNLIMITED, perSite: 2 } }), tasksAt("a.test", 4));
    await makeSuspects(broker, 2);

    await oneGrant(frontier);
    expect(await grantsOf(frontier, SUSPECTS)).toHaveLength(1);
    expect(await grantsOf(frontier, ALL)).toEqual([]);
    expect((await frontier.listSites(1))[0]?.inFlight).toBe(2);
  });

  test("F12 suspects follow their job when it is paused, cancelled or changes priority", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), [...tasksAt("a.test", 2), ...tasksAt("b.test", 2), ...tasksAt("c.test", 2)]);
    await makeSuspects(broker, 6);

    await frontier.pause("job");
    expect(await grantsOf(frontier, SUSPECTS)).toEqual([]);
    await frontier.resume("job");
    await frontier.setPriority("job", 0);
    await settleAll(frontier, [await oneGrant(frontier, SUSPECTS)]);
    await frontier.cancel("job");

    expect(await viewOf(frontier)).toMatchObject({ state: "cancelled", counts: { done: 1, cancelled: 5, queued: 0 } });
    expect(await grantsOf(frontier, ALL)).toEqual([]);
  });

  test("F11 does not finish a job while one of its suspects waits", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await frontier.seal("job");
    await makeSuspects(broker, 1);
    await settleAll(frontier, await grantsOf(frontier));
    expect((await viewOf(frontier)).state).toBe("running");

    await settleAll(frontier, await grantsOf(frontier, SUSPECTS));

    expect((await viewOf(frontier)).state).toBe("finished");
  });
}

/** Two workers crash, each with the first `count` tasks. */
async function makeSuspects({ frontier }: Broker, count: number): Promise<void> {
  for (let nth = 0; nth < SUSPECT_AFTER; nth++) {
    expect(await grantsOf(frontier, { worker: "doomed", max: count })).toHaveLength(count);
    expect(await frontier.abandon("doomed")).toBe(count);
  }
}
