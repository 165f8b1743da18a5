import { expect } from "vitest";
import type { TrawlError } from "../../../src/errors.ts";
import type { NewJob } from "../../../src/frontier/frontier.ts";
import { type AnyFrontier, type Broker, START_AT, type Suite } from "./backend.ts";
import { aJob, aTask, drain, grantsOf, oneGrant, settleAll, settlementOf, submit, tasksAt, viewOf } from "./makers.ts";

const DEAD = { outcome: { kind: "dead", because: "http_status", status: 404 } } as const;

/** Forgetting ended jobs (F21). */
export function forgettingJobs(suite: Suite): void {
  forgetting(suite);
  refusing(suite);
  otherJobs(suite);
}

/** An ended job with `dead` dead letters. */
async function anEndedJob({ frontier }: Broker, job: NewJob, pages: number, dead = 0): Promise<void> {
  await submit(frontier, job, tasksAt("a.test", pages));
  await frontier.seal(job.id);
  const grants = await grantsOf(frontier, { max: pages });
  await settleAll(frontier, grants.slice(0, dead), DEAD);
  await settleAll(frontier, grants.slice(dead));
  expect((await viewOf(frontier, job.id)).finishedAt).toBeDefined();
}

async function forgetAll(frontier: AnyFrontier, jobId: string, max: number): Promise<number> {
  for (let calls = 1; ; calls++) if ((await frontier.forgetJob(jobId, max)) === "gone") return calls;
}

function forgetting({ open, test, testWith }: Suite): void {
  test("F21 a forgotten job and its dead letters no longer exist", async () => {
    const broker = await open();
    const { frontier } = broker;
    await anEndedJob(broker, aJob({ id: "gone" }), 4, 2);

    expect(await frontier.forgetJob("gone", 500)).toBe("gone");

    expect(await frontier.findJob("gone")).toBeUndefined();
    expect(await frontier.listJobs(10)).toEqual([]);
    expect(await frontier.listEnded(Infinity, 10)).toEqual([]);
    expect(await frontier.listDead({}, 10)).toEqual([]);
    expect(await frontier.groupDead({}, 10)).toEqual({ groups: [], letters: 0 });
    expect(await frontier.replayDead({}, 10, 1)).toMatchObject({ replayed: 0 });
    expect((await frontier.explain({ url: "https://a.test/1" })).tasks).toEqual([]);
    await expect(frontier.explain({ jobId: "gone" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(frontier.enqueue("gone", tasksAt("a.test", 1))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(frontier.seal("gone")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await frontier.forgetJob("gone", 500)).toBe("gone");
    expect(await frontier.forgetJob("unknown", 500)).toBe("gone");
  });

  test("F21 a job does not exist after the first call, however many calls its removal takes", async () => {
    const broker = await open();
    const { frontier } = broker;
    await anEndedJob(broker, aJob({ id: "gone" }), 9, 5);
    await anEndedJob(broker, aJob({ id: "stays", dedup: { scope: "daily", expireAfterMs: 1e9 } }), 3, 1);

    const first = await frontier.forgetJob("gone", 2);

    expect(await frontier.findJob("gone")).toBeUndefined();
    expect(await frontier.replayDead({ jobId: "gone" }, 10, 1)).toMatchObject({ replayed: 0 });
    expect((await frontier.explain({ url: "https://a.test/8" })).tasks).toEqual([]);
    await expect(frontier.enqueue("gone", [])).rejects.toMatchObject({ code: "NOT_FOUND" });
    if (first === "more") await forgetAll(frontier, "gone", 2);
    expect((await frontier.listDead({}, 100)).map(({ jobId }) => jobId)).toEqual(["stays"]);
  });

  test("F21 reapers complete a removal that the caller has not completed", async () => {
    const broker = await open();
    const { frontier } = broker;
    await anEndedJob(broker, aJob(), 6, 6);
    await frontier.forgetJob("job", 1);

    for (let nth = 0; nth < 3; nth++) await frontier.reap(100);

    expect(await frontier.listDead({}, 100)).toEqual([]);
    await frontier.createJob(aJob({ id: "next" }));
    expect(await frontier.forgetJob("job", 1)).toBe("gone");
  });

  test("F21 a late claim of a forgotten job is stale and changes nothing", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    const late = await oneGrant(frontier, { leaseMs: 10 });
    clock.advance(10);
    await frontier.reap(10);
    const again = await oneGrant(frontier);
    await settleAll(frontier, [again]);
    await forgetAll(frontier, "job", 500);

    for (const grant of [late, again]) {
      const { states, finished } = await frontier.settle([
        settlementOf(grant, {
          discovered: tasksAt("b.test", 2),
          tally: { pages: 1, records: 1, invalid: 0, bytes: 1 },
        }),
      ]);
      expect(states).toEqual(["stale"]);
      expect(finished).toEqual([]);
      expect(await frontier.extend([grant], 1000)).toEqual([false]);
      await frontier.release([grant]);
    }

    expect(await frontier.findJob("job")).toBeUndefined();
    expect(await grantsOf(frontier)).toEqual([]);
    expect(await frontier.listQueues()).toEqual([]);
  });

  test("F21 a later job with the same id has seen no URLs", async () => {
    const broker = await open();
    const { frontier } = broker;
    await anEndedJob(broker, aJob(), 3, 1);
    await forgetAll(frontier, "job", 500);

    await submit(frontier, aJob(), tasksAt("a.test", 3));
    await frontier.seal("job");

    expect(await viewOf(frontier)).toMatchObject({
      state: "running",
      counts: { submitted: 3, queued: 3, duplicate: 0 },
    });
    expect(await drain(broker)).toHaveLength(3);
  });

  testWith(
    "sharing",
    "F21 a job is forgotten once, however many processes forget it concurrently",
    async ({ another }) => {
      const broker = await open();
      const handles = [broker.frontier, await another(broker), await another(broker)];
      await anEndedJob(broker, aJob(), 40, 20);

      const calls = await Promise.all(handles.map((frontier) => forgetAll(frontier, "job", 3)));

      expect(calls).toHaveLength(3);
      for (const frontier of handles) expect(await frontier.listDead({}, 10)).toEqual([]);
      expect(await broker.frontier.findJob("job")).toBeUndefined();
    },
  );
}

function refusing({ open, test }: Suite): void {
  test("F21 refuses a job that has not ended", async () => {
    const { frontier } = await open();
    const refused = expect.objectContaining({ code: "JOB_RUNNING", message: expect.stringContaining("job") });
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await expect(frontier.forgetJob("job", 500)).rejects.toEqual(refused);
    await frontier.pause("job");
    await expect(frontier.forgetJob("job", 500)).rejects.toEqual(refused);
    await frontier.resume("job");
    const grant = await oneGrant(frontier);
    await frontier.cancel("job");

    const error = await frontier.forgetJob("job", 500).catch((cause: TrawlError) => cause);

    expect(error).toEqual(refused);
    expect((error as TrawlError).message).toContain("still leased");
    await settleAll(frontier, [grant]);
    expect(await frontier.forgetJob("job", 500)).toBe("gone");
  });

  test("F21 refuses a job that a replay reopened", async () => {
    const broker = await open();
    const { frontier } = broker;
    await anEndedJob(broker, aJob(), 2, 1);
    await frontier.replayDead({ jobId: "job" }, 10, 100);

    await expect(frontier.forgetJob("job", 500)).rejects.toMatchObject({ code: "JOB_RUNNING" });
    expect(await frontier.listEnded(Infinity, 10)).toEqual([]);

    await drain(broker);
    expect(await frontier.listEnded(Infinity, 10)).toHaveLength(1);
    expect(await frontier.forgetJob("job", 500)).toBe("gone");
  });
}

function otherJobs({ open, test }: Suite): void {
  test("F21 lists ended jobs by the time of their end", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ id: "running" }), tasksAt("b.test", 1));
    const held = await grantsOf(frontier);
    for (const id of ["one", "two", "three"]) {
      await anEndedJob(broker, aJob({ id }), 1);
      clock.advance(1000);
    }
    await frontier.cancel("running");
    const ids = async (before: number, limit: number) => (await frontier.listEnded(before, limit)).map(({ id }) => id);

    expect(await ids(START_AT + 2000, 10)).toEqual(["one", "two"]);
    expect(await ids(START_AT + 2000.5, 10)).toEqual(["one", "two", "three"]);
    expect(await ids(Infinity, 2)).toEqual(["one", "two"]);
    await settleAll(frontier, held);
    expect(await ids(Infinity, 10)).toEqual(["one", "two", "three", "running"]);
    expect((await frontier.listEnded(Infinity, 1))[0]).toEqual(await frontier.findJob("one"));
  });

  test("F21 changes no counts, limits or shared sets of seen URLs of other jobs", async () => {
    const broker = await open();
    const { frontier } = broker;
    const dedup = { scope: "daily", expireAfterMs: 1e9 };
    const policy = { intervalMs: 1000, burst: 1, perSite: 2 };
    await submit(frontier, aJob({ id: "stays", dedup, policy, limits: { deadlineAt: START_AT + 1e6 } }), [
      ...tasksAt("a.test", 3),
    ]);
    await submit(frontier, aJob({ id: "gone", dedup, limits: { deadlineAt: START_AT + 1e6 } }), [
      aTask("https://b.test/"),
    ]);
    await frontier.seal("gone");
    await settleAll(frontier, await grantsOf(frontier));
    const before = [await viewOf(frontier, "stays"), await frontier.listSites(10), await frontier.listQueues()];

    await forgetAll(frontier, "gone", 500);

    expect([await viewOf(frontier, "stays"), await frontier.listSites(10), await frontier.listQueues()]).toEqual(
      before,
    );
    await frontier.enqueue("stays", [aTask("https://b.test/")]);
    expect((await viewOf(frontier, "stays")).counts.duplicate).toBe(1);
    expect((await frontier.explain({ url: "https://b.test/" })).tasks).toEqual([]);
    broker.clock.advance(2e6); // past the deadline of the forgotten job
    await frontier.reap(10);
    expect((await viewOf(frontier, "stays")).state).not.toBe("running");
  });
}
