import { expect } from "vitest";
import { offlineSite } from "../../../src/domain/offline-site.ts";
import { MAX_BATCH, type TaskOutcome } from "../../../src/frontier/frontier.ts";
import { type AnyFrontier, type Broker, START_AT, type Suite } from "./backend.ts";
import {
  aJob,
  aTask,
  countsOf,
  drain,
  grantsOf,
  oneGrant,
  settleAll,
  settlementOf,
  submit,
  tasksAt,
  urlsOf,
  viewOf,
} from "./makers.ts";

const GONE = { kind: "dead", because: "http_status", status: 404 } as const;

/** Dead letters: list, group, replay, discard (F15). */
export function deadLetters(suite: Suite): void {
  listing(suite);
  replaying(suite);
  selecting(suite);
  discarding(suite);
}

function listing({ open, test }: Suite): void {
  test("F15 keeps the history of a dead task", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    clock.advance(7);
    const grant = await oneGrant(frontier);
    await settleAll(frontier, [grant], { outcome: { ...GONE, detail: "no such page" } });

    expect(await frontier.listDead({}, 10)).toEqual([
      {
        taskId: grant.taskId,
        jobId: "job",
        url: "https://a.test/0",
        site: "a.test",
        reason: "http_status",
        status: 404,
        diedAt: START_AT + 7,
        history: [{ at: START_AT + 7, because: "http_status", status: 404, detail: "no such page" }],
      },
    ]);
  });

  test("F15 lists by job, reason, site and status, page by page", async () => {
    const { frontier } = await openWithDeadLetters(open);
    const urls = async (filter: Parameters<AnyFrontier["listDead"]>[0]) => urlsOf(await frontier.listDead(filter, 100));

    expect(await urls({})).toHaveLength(6);
    expect(await urls({ jobId: "two" })).toEqual(["https://b.test/0", "https://b.test/1"]);
    expect(await urls({ reason: "too_big" })).toEqual(["https://a.test/3"]);
    expect(await urls({ site: "a.test" })).toHaveLength(4);
    expect(await urls({ status: 404 })).toEqual([
      "https://a.test/0",
      "https://a.test/1",
      "https://b.test/0",
      "https://b.test/1",
    ]);
    expect(await urls({ jobId: "one", status: 404, reason: "http_status", site: "a.test" })).toHaveLength(2);
    expect(await urls({ jobId: "nope" })).toEqual([]);

    const first = await frontier.listDead({}, 4);
    const rest = await frontier.listDead({}, 4, first.at(-1)?.taskId);
    expect([...first, ...rest]).toEqual(await frontier.listDead({}, 100));
    expect(rest).toHaveLength(2);
  });

  test("F15 groups by reason, site and status, largest first, each with a sample", async () => {
    const { frontier } = await openWithDeadLetters(open);

    expect((await frontier.groupDead({}, 10)).groups).toEqual([
      { reason: "http_status", site: "a.test", status: 404, count: 2, sample: "https://a.test/0" },
      { reason: "http_status", site: "b.test", status: 404, count: 2, sample: "https://b.test/0" },
      { reason: "http_status", site: "a.test", status: 410, count: 1, sample: "https://a.test/2" },
      { reason: "too_big", site: "a.test", status: undefined, count: 1, sample: "https://a.test/3" },
    ]);
    expect((await frontier.groupDead({ jobId: "two" }, 10)).groups).toHaveLength(1);
    expect(await frontier.groupDead({}, 1)).toMatchObject({ groups: [{ count: 2 }], letters: 6 });
    expect(await frontier.groupDead({ site: "a.test" }, 1)).toMatchObject({ groups: [{ count: 2 }], letters: 4 });
    expect(await frontier.groupDead({ jobId: "none" }, 10)).toEqual({ groups: [], letters: 0 });
    expect(await frontier.countDead()).toBe(6);
    await frontier.discardDead({ status: 404 }, 10);
    expect(await frontier.countDead()).toBe(2);
  });

  test("F15 counts failed parse tasks at the site of their page", async () => {
    const { frontier } = await open();
    const parse = aTask("https://a.test/0#parse", { site: offlineSite("a.test"), kind: "parse" });
    await submit(frontier, aJob(), [...tasksAt("a.test", 1), parse, ...tasksAt("b.test", 1)]);
    await settleAll(frontier, await grantsOf(frontier), { outcome: GONE });

    expect((await frontier.groupDead({}, 10)).groups).toMatchObject([
      { site: "a.test", count: 2, sample: "https://a.test/0" },
      { site: "b.test", count: 1 },
    ]);
    for (const site of ["a.test", offlineSite("a.test")]) {
      const letters = await frontier.listDead({ site }, 10);
      expect(letters.map(({ url }) => url).sort()).toEqual(["https://a.test/0", "https://a.test/0#parse"]);
      expect(letters.map((letter) => letter.site)).toEqual(["a.test", "a.test"]);
    }
    expect(await frontier.replayDead({ site: "a.test" }, 10, 10)).toMatchObject({ replayed: 2 });
    expect((await grantsOf(frontier)).map(({ site }) => site).sort()).toEqual([offlineSite("a.test"), "a.test"]);
  });
}

function replaying({ open, test }: Suite): void {
  test("F15 replays dead tasks under the same task id", async () => {
    const { frontier } = await open();
    const task = aTask("https://a.test/x", {
      depth: 2,
      handler: "detail",
      carry: { a: 1 },
      kind: "render",
      redirects: 1,
    });
    await submit(frontier, aJob({ retries: { max: 1, backoffMs: 1 } }), [task]);
    const dead = await oneGrant(frontier);
    await settleAll(frontier, [dead], { outcome: GONE });

    expect(await frontier.replayDead({}, 10, 1)).toMatchObject({ replayed: 1 });

    expect(await frontier.listDead({}, 10)).toEqual([]);
    expect(await countsOf(frontier)).toEqual({ submitted: 1, queued: 1 });
    const again = await oneGrant(frontier);
    expect(again).toEqual({ ...dead, token: expect.any(Number) });
    expect(again.token).toBeGreaterThan(dead.token);
  });

  test("F15 replays a given number of tasks per second", async () => {
    const { frontier, clock } = await open();
    await createDeadLetters(frontier, 7);

    expect(await frontier.replayDead({}, 100, 3)).toMatchObject({ replayed: 7 });

    expect(await countsOf(frontier)).toEqual({ submitted: 7, queued: 3, delayed: 4 });
    const granted = [];
    for (let second = 0; second < 4; second++) {
      granted.push((await grantsOf(frontier)).length);
      clock.advance(1000);
    }
    expect(granted).toEqual([3, 3, 1, 0]);
  });

  test("F15 replays up to the limit, and only tasks that match the filter", async () => {
    const { frontier } = await openWithDeadLetters(open);

    expect(await frontier.replayDead({ site: "a.test", status: 404 }, 1, 10)).toMatchObject({ replayed: 1 });
    expect(urlsOf(await grantsOf(frontier))).toEqual(["https://a.test/0"]);
    expect(await frontier.replayDead({ jobId: "two" }, 10, 10)).toMatchObject({ replayed: 2 });
    expect(await frontier.listDead({}, 10)).toHaveLength(3);
    expect(await frontier.replayDead({ jobId: "nope" }, 10, 10)).toMatchObject({ replayed: 0 });
  });

  test("F15 resets the attempts and crashes of a replayed task", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ retries: { max: 1, backoffMs: 1 } }), tasksAt("a.test", 1));
    await frontier.createJob(aJob({ id: "idle" }));
    for (let nth = 0; nth < 2; nth++) {
      await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "retry", because: "timeout" } });
      clock.advance(1000);
    }
    expect(await countsOf(frontier)).toEqual({ submitted: 1, dead: 1 });
    await frontier.replayDead({}, 10, 1);

    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "retry", because: "timeout" } });

    expect(await countsOf(frontier)).toEqual({ submitted: 1, delayed: 1 });
  });

  test("F15 a replay reopens an ended job, which then finishes again", async () => {
    const broker = await open();
    const { frontier } = broker;
    await createDeadLetters(frontier, 2);
    await frontier.seal("job");
    expect((await viewOf(frontier)).state).toBe("failed");

    await frontier.replayDead({ jobId: "job" }, 10, 10);
    expect(await viewOf(frontier)).toMatchObject({ state: "running", finishedAt: undefined });
    await drain(broker);

    expect(await viewOf(frontier)).toMatchObject({
      state: "finished",
      finishedAt: START_AT,
      counts: { done: 2, dead: 0 },
    });
  });

  test("F15 a replay removes the deadline of a job that has passed it", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1000 } }), tasksAt("a.test", 2));
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: GONE });
    clock.advance(1000);
    await frontier.reap(10);
    expect((await viewOf(frontier)).state).toBe("failed");

    expect(await frontier.replayDead({}, 10, 10)).toMatchObject({ replayed: 1 });

    expect(await drain(broker)).toHaveLength(1);
    expect((await viewOf(frontier)).state).toBe("finished");
  });

  test("F15 replays tasks of a job past its deadline only after the job has ended", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ limits: { deadlineAt: START_AT + 1000 } }), tasksAt("a.test", 3));
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: GONE });
    const last = await oneGrant(frontier);
    clock.advance(1000);
    await frontier.reap(10);

    expect(await frontier.replayDead({}, 10, 10)).toMatchObject({ replayed: 0 });
    await settleAll(frontier, [last]);
    expect((await viewOf(frontier)).state).toBe("finished");

    expect(await frontier.replayDead({}, 10, 10)).toMatchObject({ replayed: 1 });
    expect(await countsOf(frontier)).toEqual({ submitted: 3, done: 1, queued: 1, cancelled: 1 });
  });

  test("F15 never replays tasks of a cancelled job", async () => {
    const { frontier } = await open();
    await createDeadLetters(frontier, 2);
    await frontier.cancel("job");

    expect(await frontier.replayDead({}, 10, 10)).toMatchObject({ replayed: 0 });

    expect(await viewOf(frontier)).toMatchObject({ state: "cancelled", counts: { dead: 2, queued: 0 } });
  });

  test("F15 replayed tasks of a paused job wait until it is resumed", async () => {
    const { frontier } = await open();
    await createDeadLetters(frontier, 2);
    await frontier.pause("job");

    expect(await frontier.replayDead({}, 10, 10)).toMatchObject({ replayed: 2 });

    expect(await grantsOf(frontier)).toEqual([]);
    await frontier.resume("job");
    expect(await grantsOf(frontier)).toHaveLength(2);
  });
}

function selecting({ open, test }: Suite): void {
  test("F15 lists, replays and discards letters by task id, and no others", async () => {
    const { frontier } = await openWithDeadLetters(open);
    const letters = await frontier.listDead({}, 100);
    const left = async () => (await frontier.listDead({}, 100)).map(({ taskId }) => taskId);
    const all = await left();
    const [first, other] = ["one", "two"].map((jobId) => letters.find((letter) => letter.jobId === jobId)?.taskId);
    const [second, fourth] = all.filter((id) => id !== first && id !== other);
    const chosen = [other, first, "999999999999", first].map(String);

    const listed = (await frontier.listDead({ taskIds: chosen }, 100)).map(({ taskId }) => taskId);
    expect(listed).toEqual(all.filter((id) => id === first || id === other));
    expect(await frontier.listDead({ taskIds: [] }, 100)).toEqual([]);
    expect(await frontier.replayDead({ taskIds: [] }, 100, 10)).toEqual({ replayed: 0, jobIds: [] });
    expect(await frontier.replayDead({ taskIds: chosen, jobId: "one" }, 100, 10)).toEqual({
      replayed: 1,
      jobIds: ["one"],
    });
    expect(await left()).toEqual(all.filter((id) => id !== first));
    expect(await frontier.discardDead({ taskIds: [String(second), String(fourth)] }, 1)).toBe(1);
    expect(await left()).toEqual(all.filter((id) => id !== first && id !== second));
  });

  test("F15 uses each task id once, in any notation, and at most MAX_BATCH of them", async () => {
    const { frontier } = await openWithDeadLetters(open);
    const [first, second, third] = (await frontier.listDead({}, 100)).map(({ taskId }) => taskId);
    const twice = [first, `0${first}`].map(String);
    const unknown = Array.from({ length: MAX_BATCH }, (_, nth) => String(1_000_000 + nth));

    expect(await frontier.listDead({ taskIds: twice }, 100)).toHaveLength(1);
    expect(await frontier.listDead({ taskIds: [...unknown, String(third)] }, 100)).toEqual([]);
    expect(await frontier.replayDead({ taskIds: twice }, 100, 10)).toMatchObject({ replayed: 1 });
    expect(await frontier.discardDead({ taskIds: [`00${second}`, String(second)] }, 100)).toBe(1);
    expect(await frontier.countDead()).toBe(4);
  });

  test("F15 returns the ids of the replayed jobs", async () => {
    const { frontier } = await openWithDeadLetters(open);

    expect(await frontier.replayDead({ status: 404 }, 100, 1)).toEqual({ replayed: 4, jobIds: ["one", "two"] });
    expect(await frontier.replayDead({ status: 404 }, 100, 1)).toEqual({ replayed: 0, jobIds: [] });
    expect((await viewOf(frontier, "two")).state).toBe("running");
  });
}

function discarding({ open, test }: Suite): void {
  test("F15 deletes discarded letters, but still counts them in the ledger", async () => {
    const { frontier } = await openWithDeadLetters(open);

    expect(await frontier.discardDead({ site: "a.test" }, 3)).toBe(3);
    expect(await frontier.discardDead({ jobId: "one" }, 100)).toBe(1);

    expect(await frontier.listDead({ jobId: "one" }, 10)).toEqual([]);
    expect(await frontier.listDead({}, 10)).toHaveLength(2);
    expect(await countsOf(frontier, "one")).toEqual({ submitted: 4, dead: 4 });
    expect(await frontier.replayDead({ jobId: "one" }, 10, 10)).toMatchObject({ replayed: 0 });
  });

  test("F15 a URL whose letter was discarded is still seen", async () => {
    const { frontier } = await open();
    await createDeadLetters(frontier, 1);
    await frontier.discardDead({}, 10);

    expect(await frontier.enqueue("job", tasksAt("a.test", 1))).toMatchObject({ queued: 0, duplicates: 1 });
  });
}

/** Submits a job with `count` tasks at one site and fails all of them. */
async function createDeadLetters(frontier: AnyFrontier, count: number): Promise<void> {
  await submit(frontier, aJob(), tasksAt("a.test", count));
  await settleAll(frontier, await grantsOf(frontier), { outcome: GONE });
}

/** Dead letters of two jobs: at a.test two with 404, one with 410 and one too big; at b.test two with 404. */
async function openWithDeadLetters(open: Suite["open"]): Promise<Broker> {
  const broker = await open();
  const { frontier } = broker;
  const outcomes: TaskOutcome[] = [GONE, GONE, { ...GONE, status: 410 }, { kind: "dead", because: "too_big" }];
  await submit(frontier, aJob({ id: "one" }), tasksAt("a.test", 4));
  const grants = await grantsOf(frontier);
  await frontier.settle(grants.map((grant, nth) => settlementOf(grant, { outcome: outcomes[nth] ?? GONE })));
  await submit(frontier, aJob({ id: "two" }), tasksAt("b.test", 2));
  await settleAll(frontier, await grantsOf(frontier), { outcome: GONE });
  return broker;
}
