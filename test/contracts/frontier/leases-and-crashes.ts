import { expect } from "vitest";
import { MAX_CRASHES } from "../../../src/frontier/frontier.ts";
import { type AnyFrontier, type Broker, START_AT, type Suite } from "./backend.ts";
import { ALL, aJob, countsOf, grantsOf, oneGrant, settleAll, settlementOf, submit, tasksAt } from "./makers.ts";

/** Leases that are extended, expire, are abandoned or are released (F6). */
export function leasesAndCrashes({ open, test }: Suite): void {
  test("F6 grants an expired lease again", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const first = await oneGrant(frontier, { leaseMs: 1000 });

    clock.advance(999);
    expect(await frontier.reap(10)).toBe(0);
    clock.advance(1);
    expect(await frontier.reap(10)).toBe(1);

    const again = await oneGrant(frontier);
    expect(again).toMatchObject({ taskId: first.taskId, attempt: 1 });
  });

  test("F6 reaps up to the given number, longest expired first", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 3));
    await oneGrant(frontier, { leaseMs: 3000 });
    const early = await oneGrant(frontier, { leaseMs: 1000 });
    await oneGrant(frontier, { leaseMs: 2000 });
    clock.advance(5000);

    expect(await frontier.reap(1)).toBe(1);

    expect((await oneGrant(frontier)).taskId).toBe(early.taskId);
    expect(await frontier.reap(10)).toBe(2);
    expect(await frontier.reap(10)).toBe(0);
  });

  test("F6 extends leases, and returns which could not be extended", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const [kept, lost] = await grantsOf(frontier, { leaseMs: 1000 });
    if (kept === undefined || lost === undefined) throw new Error("expected two due tasks");
    clock.advance(500);
    expect(await frontier.extend([kept], 1000)).toEqual([true]);
    clock.advance(500);

    expect(await frontier.reap(10)).toBe(1);
    expect(await frontier.extend([lost, kept, { taskId: "999", token: 1 }], 1000)).toEqual([false, true, false]);
    expect(await countsOf(frontier)).toEqual({ submitted: 2, queued: 1, leased: 1 });
  });

  test("F6 does not extend a lease with the claim of an earlier one", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const first = await oneGrant(frontier);
    await frontier.release([first]);
    await oneGrant(frontier);

    expect(await frontier.extend([first], 1000)).toEqual([false]);
  });

  test("F6 extends an expired lease that no reaper has ended", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const [one, two] = await grantsOf(frontier, { leaseMs: 1000 });
    if (one === undefined || two === undefined) throw new Error("expected two due tasks");
    clock.advance(5000);

    expect(await frontier.extend([one], 1000)).toEqual([true]);
    expect((await frontier.settle([settlementOf(two)])).states).toEqual(["done"]);
    expect(await frontier.reap(10)).toBe(0);
  });

  test("F6 queues the tasks of an abandoned worker at once, and no others", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 5));
    await grantsOf(frontier, { worker: "dead", max: 2 });
    await grantsOf(frontier, { worker: "alive", max: 2 });

    expect(await frontier.abandon("dead")).toBe(2);

    expect(await frontier.abandon("dead")).toBe(0);
    expect(await frontier.listHolders()).toEqual([{ worker: "alive", leases: 2 }]);
    expect(await countsOf(frontier)).toEqual({ submitted: 5, queued: 3, leased: 2 });
  });

  test("F6 a task that crashed three workers becomes a dead letter", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));

    for (let nth = 1; nth <= MAX_CRASHES; nth++) {
      expect((await oneGrant(frontier, { ...ALL, worker: `w${nth}` })).attempt).toBe(1);
      await frontier.abandon(`w${nth}`);
    }

    expect(await grantsOf(frontier, ALL)).toEqual([]);
    expect(await countsOf(frontier)).toEqual({ submitted: 1, dead: 1 });
    expect(await frontier.listDead({}, 10)).toEqual([
      expect.objectContaining({
        reason: "crashed_worker",
        status: undefined,
        diedAt: START_AT,
        history: [{ at: START_AT, because: "crashed_worker", detail: "held by w3" }],
      }),
    ]);
  });

  test("F6 counts an expired lease and an abandoned one as a crash", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob(), tasksAt("a.test", 1));

    await crash(broker);
    await oneGrant(broker.frontier, { worker: "w" });
    await broker.frontier.abandon("w");
    await crash(broker);

    expect(await countsOf(broker.frontier)).toEqual({ submitted: 1, dead: 1 });
  });

  test("F6 resets the crash count after a clean end", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ retries: { max: 5, backoffMs: 10 } }), tasksAt("a.test", 1));
    await crash(broker);
    await crash(broker);

    await settleAll(frontier, [await oneGrant(frontier, ALL)], { outcome: { kind: "retry", because: "timeout" } });
    clock.advance(1000);
    await crash(broker);
    await crash(broker);

    expect(await isWaiting(frontier)).toBe(true);
    await crash(broker);
    expect(await isWaiting(frontier)).toBe(false);
  });

  test("F6 a release counts neither an attempt nor a crash, and resets no crash count", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    for (let nth = 0; nth < 5; nth++) await frontier.release([await oneGrant(frontier)]);
    expect((await oneGrant(frontier, { worker: "w" })).attempt).toBe(1);
    await frontier.abandon("w");
    await crash(broker);

    await frontier.release([await oneGrant(frontier, ALL)]);

    expect(await isWaiting(frontier)).toBe(true);
    await crash(broker);
    expect(await isWaiting(frontier)).toBe(false);
  });

  test("F6 releases only tasks whose claim is still valid", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const first = await oneGrant(frontier);
    await frontier.release([first]);
    await oneGrant(frontier);

    await frontier.release([first, { taskId: "999", token: 1 }, { taskId: "no number", token: 1 }]);

    expect(await countsOf(frontier)).toEqual({ submitted: 1, leased: 1 });
  });

  test("F6 frees a concurrent request of the site when a lease ends in any way", async () => {
    const { frontier, clock } = await open();
    const policy = { intervalMs: 0, burst: 1, perSite: 1 };
    await submit(frontier, aJob({ policy }), tasksAt("a.test", 5));

    await frontier.release([await oneGrant(frontier)]);
    await oneGrant(frontier, { worker: "w" });
    await frontier.abandon("w");
    await oneGrant(frontier, { leaseMs: 10 });
    clock.advance(10);
    await frontier.reap(10);
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "dead", because: "too_big" } });

    expect((await frontier.listSites(1))[0]?.inFlight).toBe(0);
    expect(await grantsOf(frontier)).toHaveLength(1);
  });
}

/** A worker leases a task, and the lease expires. */
async function crash({ frontier, clock }: Broker): Promise<void> {
  await oneGrant(frontier, { ...ALL, leaseMs: 1000 });
  clock.advance(1000);
  await frontier.reap(10);
}

async function isWaiting(frontier: AnyFrontier): Promise<boolean> {
  const { queued = 0, delayed = 0 } = await countsOf(frontier);
  return queued + delayed > 0;
}
