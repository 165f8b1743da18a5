import { expect } from "vitest";
import { backoffMs } from "../../../src/domain/backoff.ts";
import type { Grant } from "../../../src/frontier/frontier.ts";
import { type AnyFrontier, START_AT, type Suite } from "./backend.ts";
import {
  aJob,
  aRequest,
  countsOf,
  grantsOf,
  oneGrant,
  pathsOf,
  settleAll,
  settlementOf,
  submit,
  tasksAt,
} from "./makers.ts";

const TIMEOUT = { kind: "retry", because: "timeout" } as const;

/** Retries (F14). */
export function retries({ open, test }: Suite): void {
  test("F14 doubles the wait before each further attempt, with a jitter of up to a quarter", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ retries: { max: 4, backoffMs: 1000 } }), tasksAt("a.test", 1));

    for (let failures = 1; failures <= 4; failures++) {
      const grant = await oneGrant(frontier);
      expect(grant.attempt).toBe(failures);
      await settleAll(frontier, [grant], { outcome: TIMEOUT });
      const { nextDueAt = 0 } = await frontier.lease(aRequest());
      const waitMs = nextDueAt - clock.now();
      expect(waitMs).toBe(backoffMs(1000, failures, Number(grant.taskId)));
      expect(waitMs / (1000 * 2 ** (failures - 1))).toBeGreaterThanOrEqual(1);
      expect(waitMs / (1000 * 2 ** (failures - 1))).toBeLessThanOrEqual(1.25);
      clock.advanceTo(nextDueAt);
    }
  });

  test("F14 spreads the retries of tasks that failed together", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 20));
    await settleAll(frontier, await grantsOf(frontier), { outcome: TIMEOUT });

    const dues = new Set<number>();
    for (let nth = 0; nth < 20; nth++) {
      const { until = 0 } = await frontier.explain({ url: `https://a.test/${nth}` });
      dues.add(until);
    }

    expect(dues.size).toBeGreaterThan(10);
  });

  test("F14 waits as long as the response requests, if that is longer", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));

    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { ...TIMEOUT, retryAfterMs: 100_000 } });

    expect((await frontier.lease(aRequest())).nextDueAt).toBe(START_AT + 100_000);
  });

  test("F14 a task is dead after its last retry, with the history of all attempts", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ retries: { max: 1, backoffMs: 1000 } }), tasksAt("a.test", 1));
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: TIMEOUT });
    clock.advance(5000);

    const last = { kind: "retry", because: "server_error", status: 502, detail: "bad gateway" } as const;
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: last });

    expect(await countsOf(frontier)).toEqual({ submitted: 1, dead: 1 });
    const [letter] = await frontier.listDead({}, 10);
    expect(letter).toMatchObject({ reason: "retries_spent", status: 502, diedAt: START_AT + 5000 });
    expect(letter?.history).toEqual([
      { at: START_AT, because: "timeout" },
      { at: START_AT + 5000, because: "server_error", status: 502, detail: "bad gateway" },
    ]);
  });

  test("F14 settle returns the state of each task: retry, dead after the last retry, or cancelled", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ retries: { max: 1, backoffMs: 1000 } }), tasksAt("a.test", 2));
    const fail = async (grants: readonly Grant[]) =>
      (await frontier.settle(grants.map((grant) => settlementOf(grant, { outcome: TIMEOUT })))).states;

    expect(await fail(await grantsOf(frontier))).toEqual(["retry", "retry"]);
    clock.advance(60_000);
    const [one, two] = await grantsOf(frontier);
    if (one === undefined || two === undefined) throw new Error("expected two grants");
    expect(await fail([one])).toEqual(["dead"]);
    expect(await fail([one])).toEqual(["stale"]);
    const refused = settlementOf(two, { outcome: { kind: "refused", because: "robots" } });
    expect((await frontier.settle([refused])).states).toEqual(["refused"]);

    await submit(frontier, aJob({ id: "other", retries: { max: 1, backoffMs: 1000 } }), tasksAt("b.test", 1));
    const held = await grantsOf(frontier);
    await frontier.cancel("other");
    expect(await fail(held)).toEqual(["cancelled"]);
  });

  test("F14 a task without retries is dead after its first failure", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ retries: { max: 0, backoffMs: 1000 } }), tasksAt("a.test", 1));

    await settleAll(frontier, [await oneGrant(frontier)], { outcome: TIMEOUT });

    expect(await countsOf(frontier)).toEqual({ submitted: 1, dead: 1 });
  });

  test("F14 grants fresh tasks before due retries of the same priority", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await settleAll(frontier, await grantsOf(frontier), { outcome: TIMEOUT });
    await frontier.enqueue("job", tasksAt("a.test", 4));
    clock.advance(10_000);

    expect(await inOrder(frontier)).toEqual(["2", "3", "retried", "retried"]);
  });

  test("F14 a released retry still comes after fresh tasks", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await settleAll(frontier, await grantsOf(frontier), { outcome: TIMEOUT });
    clock.advance(10_000);
    await frontier.release([await oneGrant(frontier)]);
    await oneGrant(frontier, { worker: "crashing" });
    await frontier.abandon("crashing");

    await frontier.enqueue("job", tasksAt("a.test", 3));

    expect(await inOrder(frontier)).toEqual(["1", "2", "retried"]);
  });

  test("F14 a retry of higher priority comes before fresh tasks of lower priority", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1, { priority: 0 }));
    await settleAll(frontier, await grantsOf(frontier), { outcome: TIMEOUT });
    await frontier.enqueue("job", tasksAt("a.test", 3, { priority: 5 }));
    clock.advance(10_000);

    expect(await inOrder(frontier)).toEqual(["retried", "1", "2"]);
  });

  test("F14 grants retries in the order of their due times", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const [one, two] = await grantsOf(frontier);
    if (one === undefined || two === undefined) throw new Error("expected two due tasks");
    await settleAll(frontier, [one], { outcome: { ...TIMEOUT, retryAfterMs: 9000 } });
    await settleAll(frontier, [two], { outcome: { ...TIMEOUT, retryAfterMs: 5000 } });
    clock.advance(10_000);

    expect(pathsOf([await oneGrant(frontier), await oneGrant(frontier)])).toEqual(["1", "0"]);
  });
}

/** Grants all due tasks one by one, and returns their paths, or `retried` if it is not the first attempt. */
async function inOrder(frontier: AnyFrontier): Promise<string[]> {
  const order: Grant[] = [];
  for (;;) {
    const grants = await grantsOf(frontier, { max: 1 });
    if (grants.length === 0) return order.map((grant) => (grant.attempt > 1 ? "retried" : (pathsOf([grant])[0] ?? "")));
    order.push(...grants);
  }
}
