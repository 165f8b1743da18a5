import { expect } from "vitest";
import { type Grant, type LeaseRequest, MAX_BATCH } from "../../../src/frontier/frontier.ts";
import { type AnyFrontier, START_AT, type Suite } from "./backend.ts";
import {
  ALL,
  aJob,
  aRequest,
  aTask,
  countsOf,
  drain,
  grantsOf,
  settleAll,
  settlementOf,
  submit,
  tasksAt,
  viewOf,
} from "./makers.ts";

const MANY = 2 * MAX_BATCH + 1;

/** Large calls are split into batches and answered as one (F17). */
export function bounds({ open, test }: Suite): void {
  test("F17 accepts a submission of any size, with correct indexes of refused tasks", async () => {
    const { frontier } = await open();
    await frontier.createJob(aJob({ limits: { pages: MANY - 1 } }));

    const answer = await frontier.enqueue("job", [...tasksAt("a.test", MANY), aTask("https://a.test/0")]);

    expect(answer).toEqual({ queued: MANY - 1, duplicates: 1, refused: [{ index: MANY - 1, reason: "page_limit" }] });
  });

  test("F17 queues batches that mix new sites, known sites, lanes with waiting tasks and duplicates", async () => {
    const broker = await open();
    const { frontier } = broker;
    await frontier.setSitePolicy("site3.test", { intervalMs: 0, burst: 1, perSite: 1 });
    await submit(frontier, aJob({ id: "other" }), tasksAt("site4.test", 2));
    const at = (sites: readonly number[], path: string) => sites.map((nth) => aTask(`https://site${nth}.test/${path}`));
    await frontier.createJob(aJob());

    const answers = [
      await frontier.enqueue("job", at([1, 2, 3], "a")),
      await frontier.enqueue("job", at([1, 2, 3, 4, 5], "b")),
      await frontier.enqueue("job", [...at([1, 5, 6], "b"), ...at([6, 7], "c")]),
      await frontier.enqueue("job", [...at([8], "d"), ...at([1, 8], "d"), ...at([9], "d")]),
    ];

    expect(answers.map(({ queued, duplicates }) => [queued, duplicates])).toEqual([
      [3, 0],
      [5, 0],
      [3, 2],
      [3, 1],
    ]);
    expect(await countsOf(frontier)).toEqual({ submitted: 17, queued: 14, duplicate: 3 });
    const sites = await frontier.listJobSites("job", 100);
    const waitingAt = Object.fromEntries(sites.map(({ site, waiting }) => [site.slice(4, 5), waiting]));
    expect(waitingAt).toEqual({ 1: 3, 2: 2, 3: 2, 4: 1, 5: 1, 6: 2, 7: 1, 8: 1, 9: 1 });
    await frontier.cancel("other");
    await frontier.seal("job");
    const urls = (await drain(broker)).map(({ url }) => url);
    expect(urls).toHaveLength(14);
    expect(new Set(urls).size).toBe(14);
    expect(await viewOf(frontier)).toMatchObject({ state: "finished", counts: { done: 14 } });
  });

  test("F17 accepts any number of settlements with any number of links", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 4));
    await frontier.seal("job");
    const grants = await grantsOf(frontier);

    const { states } = await frontier.settle(
      grants.map((grant, nth) => settlementOf(grant, { discovered: tasksAt(`b${nth}.test`, nth * 300) })),
    );

    expect(states).toEqual(["done", "done", "done", "done"]);
    expect(await countsOf(frontier)).toEqual({ submitted: 4, discovered: 1800, done: 4, queued: 1800 });
  });

  test("F17 cancels, pauses and changes a job of any size", async () => {
    const { frontier } = await open();
    const sites = Array.from({ length: MANY }, (_, nth) => aTask(`https://site-${nth}.test/`));
    await submit(frontier, aJob(), [...sites, ...tasksAt("a.test", MANY)]);

    await frontier.pause("job");
    expect(await grantsOf(frontier)).toEqual([]);
    await frontier.resume("job");
    await frontier.setPolicy("job", { intervalMs: 7, burst: 1, perSite: 1 });
    const intervals = (await frontier.listSites(2 * MANY)).map(({ policy }) => policy.intervalMs);
    expect(new Set(intervals)).toEqual(new Set([7]));
    expect(await grantsOf(frontier, { max: 3 })).toHaveLength(3);

    expect((await frontier.cancel("job")).counts).toMatchObject({ cancelled: 2 * MANY - 3, leased: 3, queued: 0 });
    const waiting = (await frontier.listSites(2 * MANY)).map((site) => site.waiting);
    expect(new Set(waiting)).toEqual(new Set([0]));
  });

  test("F17 grants a bounded number of tasks per call, and reports that more are due", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", MANY));

    const { grants, nextDueAt } = await frontier.lease(aRequest({ max: MANY }));

    expect(grants.length).toBeLessThanOrEqual(MAX_BATCH);
    expect(nextDueAt).toBeLessThanOrEqual(clock.now());
    expect((await allGrantsOf(frontier)).length).toBe(MANY - grants.length);
  });

  test("F17 extends, releases and settles any number of claims in one call", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", MANY));
    await frontier.seal("job");
    const grants = await allGrantsOf(frontier);

    const extended = await frontier.extend([{ taskId: "0", token: 1 }, ...grants], 1000);
    expect(extended.map(Number)).toEqual([0, ...grants.map(() => 1)]);
    await frontier.release(grants);
    expect(await countsOf(frontier)).toEqual({ submitted: MANY, queued: MANY });
    const again = (await allGrantsOf(frontier)).map((grant) => settlementOf(grant));
    const { states, finished } = await frontier.settle(again);

    expect(states).toEqual(again.map(() => "done"));
    expect(finished).toEqual(["job"]);
  });

  test("F17 abandons, replays and discards any number of tasks, and reaps up to the given number", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", MANY));
    await allGrantsOf(frontier, { worker: "dead" });
    expect(await frontier.abandon("dead")).toBe(MANY);

    await allGrantsOf(frontier, { leaseMs: 1000 });
    clock.advance(1000);
    let reaped = 0;
    for (let moved = 1; moved > 0; reaped += moved) {
      moved = await frontier.reap(MANY);
      expect(moved).toBeLessThanOrEqual(MAX_BATCH);
    }
    expect(reaped).toBe(MANY);

    const outcome = { kind: "dead", because: "too_big" } as const;
    await settleAll(frontier, await allGrantsOf(frontier, ALL), { outcome });
    expect(await frontier.replayDead({}, MANY - 1, MANY)).toMatchObject({ replayed: MANY - 1 });
    await settleAll(frontier, await allGrantsOf(frontier), { outcome });
    expect(await frontier.discardDead({}, MAX_BATCH)).toBe(MAX_BATCH);
    expect(await frontier.discardDead({}, MANY)).toBe(MANY - MAX_BATCH);
    expect((await viewOf(frontier)).counts.dead).toBe(MANY);
  });

  test("F17 ends a job of any size after its deadline, in bounded calls", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1 } }), tasksAt("a.test", MANY));
    clock.advance(1);

    while ((await frontier.reap(100)) > 0);

    expect(await viewOf(frontier)).toMatchObject({ finishedAt: START_AT + 1, counts: { cancelled: MANY, queued: 0 } });
    expect((await frontier.listSites(1))[0]?.waiting).toBe(0);
  });

  test("F17 a replay after the deadline of a job with many sites queues only its dead letters", async () => {
    const { frontier, clock } = await open();
    const sites = Array.from({ length: MANY }, (_, nth) => aTask(`https://site-${nth}.test/`));
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1 } }), sites);
    await settleAll(frontier, await grantsOf(frontier, { max: 1 }), { outcome: { kind: "dead", because: "too_big" } });
    await frontier.seal("job");
    clock.advance(1);
    await frontier.reap(100);

    for (let calls = 0; calls < 10 && (await frontier.replayDead({}, 10, 10)).replayed === 0; calls++)
      await frontier.reap(100);

    const granted = [];
    for (let calls = 0; calls < 5; calls++) granted.push(...(await grantsOf(frontier, { max: MAX_BATCH })));
    expect(granted).toHaveLength(1);
    expect(await countsOf(frontier)).toEqual({ submitted: MANY, cancelled: MANY - 1, leased: 1 });
  });
}

/** All tasks that are due, in as many calls as needed. */
async function allGrantsOf(frontier: AnyFrontier, parts: Partial<LeaseRequest> = {}): Promise<Grant[]> {
  const all: Grant[] = [];
  for (;;) {
    const grants = await grantsOf(frontier, { max: MANY, ...parts });
    if (grants.length === 0) return all;
    all.push(...grants);
  }
}
