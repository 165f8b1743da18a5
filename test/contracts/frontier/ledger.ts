import { expect } from "vitest";
import { emptyLedger } from "../../../src/domain/job.ts";
import type { Settlement } from "../../../src/frontier/frontier.ts";
import type { Suite } from "./backend.ts";
import { aJob, aTask, countsOf, grantsOf, oneGrant, settlementOf, submit, tasksAt, viewOf } from "./makers.ts";

/** The ledger balances after every call (F10). `countsOf` checks that each time. */
export function ledger({ open, test }: Suite): void {
  test("F10 a new job has an empty ledger", async () => {
    const { frontier } = await open();
    await frontier.createJob(aJob());

    expect((await viewOf(frontier)).counts).toEqual(emptyLedger());
  });

  test("F10 counts every task from admission to end", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ retries: { max: 1, backoffMs: 1000 } }), [
      ...tasksAt("a.test", 7),
      ...tasksAt("a.test", 1),
    ]);
    expect(await countsOf(frontier)).toEqual({ submitted: 8, queued: 7, duplicate: 1 });

    const grants = await grantsOf(frontier, { max: 6 });
    expect(await countsOf(frontier)).toEqual({ submitted: 8, queued: 1, leased: 6, duplicate: 1 });

    const [done, retried, dead, refused, released, crashed] = grants;
    if (!done || !retried || !dead || !refused || !released || !crashed) throw new Error("expected six due tasks");
    const settle = (grant: typeof done, parts: Partial<Settlement>) => frontier.settle([settlementOf(grant, parts)]);
    await settle(done, { discovered: [aTask("https://b.test/"), aTask("https://a.test/0")], refusedLinks: 3 });
    expect(await countsOf(frontier)).toMatchObject({
      discovered: 5,
      done: 1,
      queued: 2,
      duplicate: 2,
      refused: 3,
      leased: 5,
    });
    await settle(retried, { outcome: { kind: "retry", because: "dns" } });
    expect(await countsOf(frontier)).toMatchObject({ delayed: 1, leased: 4 });
    await settle(dead, { outcome: { kind: "dead", because: "http_status", status: 410 } });
    expect(await countsOf(frontier)).toMatchObject({ dead: 1, leased: 3 });
    await settle(refused, { outcome: { kind: "refused", because: "robots" } });
    expect(await countsOf(frontier)).toMatchObject({ refused: 4, leased: 2 });
    await frontier.release([released]);
    expect(await countsOf(frontier)).toMatchObject({ queued: 3, leased: 1 });
    clock.advance(60_000);
    await frontier.reap(10);
    expect((await viewOf(frontier)).counts).toMatchObject({ queued: 4, leased: 0 });
    await frontier.cancel("job");

    expect(await countsOf(frontier)).toEqual({
      submitted: 8,
      discovered: 5,
      done: 1,
      dead: 1,
      duplicate: 2,
      refused: 4,
      cancelled: 5,
    });
  });

  test("F10 a due retry counts as delayed until it is granted, and again after a release", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const outcome = { kind: "retry", because: "timeout" } as const;
    await frontier.settle([settlementOf(await oneGrant(frontier), { outcome })]);
    clock.advance(10_000);
    expect(await countsOf(frontier)).toEqual({ submitted: 1, delayed: 1 });

    const grant = await oneGrant(frontier);
    expect(await countsOf(frontier)).toEqual({ submitted: 1, leased: 1 });
    await frontier.release([grant]);

    expect(await countsOf(frontier)).toEqual({ submitted: 1, delayed: 1 });
  });

  test("F10 keeps the ledgers of jobs apart", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "one" }), tasksAt("a.test", 2));
    await submit(frontier, aJob({ id: "two" }), tasksAt("a.test", 3));
    const [grant] = (await grantsOf(frontier, { max: 1 })).filter(({ jobId }) => jobId === "one");
    if (grant === undefined) throw new Error("expected a grant of the first job");

    await frontier.settle([settlementOf(grant, { discovered: tasksAt("b.test", 4) })]);

    expect(await countsOf(frontier, "one")).toEqual({ submitted: 2, discovered: 4, done: 1, queued: 5 });
    expect(await countsOf(frontier, "two")).toEqual({ submitted: 3, queued: 3 });
  });
}
