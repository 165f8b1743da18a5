import { expect } from "vitest";
import { aJobSpec } from "../../submit/a-job-spec.ts";
import { type AnyFrontier, START_AT, type Suite } from "./backend.ts";
import {
  ALL,
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
  viewOf,
} from "./makers.ts";

/** Jobs from creation to end (F11). */
export function jobs(suite: Suite): void {
  creating(suite);
  listingOpen(suite);
  finishing(suite);
}

function creating({ open, test }: Suite): void {
  test("F11 creating a job twice changes nothing", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ spec: aJobSpec({ urls: ["https://a.test/"] }) }), tasksAt("a.test", 2));
    const before = await viewOf(frontier);

    await frontier.createJob(aJob({ name: "another", priority: 0 }));

    expect(await viewOf(frontier)).toEqual(before);
    expect(before).toMatchObject({ state: "running", sealed: false, createdAt: START_AT, finishedAt: undefined });
    expect(before.spec).toEqual(aJobSpec({ urls: ["https://a.test/"] }));
  });

  test("F11 lists jobs newest first, page by page", async () => {
    const { frontier, clock } = await open();
    for (const id of ["one", "two", "three"]) {
      await frontier.createJob(aJob({ id }));
      clock.advance(1);
    }

    const [newest, next] = await frontier.listJobs(2);
    expect([newest?.id, next?.id]).toEqual(["three", "two"]);
    const rest = await frontier.listJobs(2, { createdAt: next?.createdAt ?? 0 });
    expect(rest.map(({ id }) => id)).toEqual(["one"]);
  });

  test("F11 finds several jobs at once, in the order of their ids in the call, without unknown and forgotten ones", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "one" }), [...tasksAt("a.test", 2), ...tasksAt("b.test", 1)]);
    for (const id of ["two", "three", "ended"]) await frontier.createJob(aJob({ id }));
    await frontier.seal("ended");
    await frontier.forgetJob("ended", 500);

    const found = await frontier.findJobs(["three", "nope", "one", "ended"]);

    expect(found).toEqual([await viewOf(frontier, "three"), await viewOf(frontier, "one")]);
    expect(await frontier.findJobs([])).toEqual([]);
  });

  test("F11 throws NOT_FOUND with the id of an unknown job", async () => {
    const { frontier } = await open();
    const notFound = expect.objectContaining({ code: "NOT_FOUND", message: expect.stringContaining("nope") });

    expect(await frontier.findJob("nope")).toBeUndefined();
    await expect(frontier.enqueue("nope", [])).rejects.toEqual(notFound);
    await expect(frontier.seal("nope")).rejects.toEqual(notFound);
    for (const call of ["pause", "resume", "cancel"] as const)
      await expect(frontier[call]("nope")).rejects.toEqual(notFound);
    await expect(frontier.setPriority("nope", 1)).rejects.toEqual(notFound);
    await expect(frontier.explain({ jobId: "nope" })).rejects.toEqual(notFound);
  });
}

function listingOpen({ open, test }: Suite): void {
  const idsOf = async (frontier: AnyFrontier, limit = 10) => (await frontier.listOpen(limit)).map(({ id }) => id);

  test("F11 lists open jobs newest first, page by page, among many ended ones", async () => {
    const { frontier, clock } = await open();
    for (const id of ["one", "two", "three", "four", "five"]) {
      await frontier.createJob(aJob({ id }));
      clock.advance(1);
    }
    for (const id of ["two", "five"]) await frontier.seal(id);

    const [newest, next] = await frontier.listOpen(2);
    expect([newest?.id, next?.id]).toEqual(["four", "three"]);
    const rest = await frontier.listOpen(2, { createdAt: next?.createdAt ?? 0 });
    expect(rest).toEqual([await viewOf(frontier, "one")]);
  });

  test("F11 lists paused jobs as open, cancelled jobs until their last lease ends, and no forgotten jobs", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const grant = await oneGrant(frontier);
    await frontier.pause("job");
    expect(await idsOf(frontier)).toEqual(["job"]);
    await frontier.cancel("job");
    expect(await idsOf(frontier)).toEqual(["job"]);

    await frontier.settle([settlementOf(grant)]);

    expect(await idsOf(frontier)).toEqual([]);
    await frontier.forgetJob("job", 500);
    expect(await idsOf(frontier)).toEqual([]);
  });

  test("F11 lists a replayed job as open until it ends again", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "dead", because: "too_big" } });
    expect(await idsOf(frontier)).toEqual([]);

    await frontier.replayDead({}, 10, 10);

    expect(await idsOf(frontier)).toEqual(["job"]);
    await drain(broker);
    expect(await idsOf(frontier)).toEqual([]);
  });
}

function finishing({ open, test, testWith }: Suite): void {
  test("F11 finishes a sealed job with its last task, and reports that once", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    expect(await frontier.seal("job")).toBe(false);
    const [one, two] = await grantsOf(frontier);
    if (one === undefined || two === undefined) throw new Error("expected two due tasks");

    expect((await frontier.settle([settlementOf(one)])).finished).toEqual([]);
    clock.advance(5);
    expect((await frontier.settle([settlementOf(two)])).finished).toEqual(["job"]);

    expect((await frontier.settle([settlementOf(two)])).finished).toEqual([]);
    expect(await frontier.seal("job")).toBe(false);
    expect(await viewOf(frontier)).toMatchObject({ state: "finished", finishedAt: START_AT + 5 });
  });

  test("F11 does not finish a job that is not sealed", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await drain(broker);
    expect((await viewOf(frontier)).state).toBe("running");
    await frontier.enqueue("job", [aTask("https://a.test/more")]);
    await drain(broker);

    expect(await frontier.seal("job")).toBe(true);

    expect((await viewOf(frontier)).state).toBe("finished");
  });

  test("F11 finishes an empty job when it is sealed, and admits no more URLs", async () => {
    const { frontier } = await open();
    await frontier.createJob(aJob());

    expect(await frontier.seal("job")).toBe(true);
    expect(await frontier.seal("job")).toBe(false);

    await expect(frontier.enqueue("job", tasksAt("a.test", 1))).rejects.toMatchObject({ code: "JOB_ENDED" });
    expect(await viewOf(frontier)).toMatchObject({ state: "finished", counts: { submitted: 0 } });
  });

  test("F11 admits no URLs to a sealed job that still runs", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");

    await expect(frontier.enqueue("job", [aTask("https://a.test/more")])).rejects.toMatchObject({ code: "JOB_ENDED" });
    await expect(frontier.enqueue("job", [])).rejects.toMatchObject({ code: "JOB_ENDED" });
    expect(await countsOf(frontier)).toEqual({ submitted: 1, queued: 1 });
  });

  test("F11 does not finish while a retry waits", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "retry", because: "network" } });
    expect((await viewOf(frontier)).state).toBe("running");

    await drain(broker);

    expect((await viewOf(frontier)).state).toBe("finished");
  });

  test("F11 a job without any page, but with failed tasks, has failed", async () => {
    const { frontier } = await open();
    for (const [id, outcome] of [
      ["gone", { kind: "dead", because: "http_status", status: 404 }],
      ["forbidden", { kind: "refused", because: "robots" }],
    ] as const) {
      await submit(frontier, aJob({ id }), tasksAt("a.test", 1));
      await frontier.seal(id);
      await settleAll(frontier, await grantsOf(frontier), { outcome });
      expect((await viewOf(frontier, id)).state).toBe("failed");
    }
  });

  test("F11 a job whose redirects led only to dead tasks has failed, because a redirect is no page", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    await settleAll(frontier, [await oneGrant(frontier)], {
      discovered: tasksAt("b.test", 1),
      tally: { pages: 0, records: 0, invalid: 0, bytes: 0 },
    });

    await settleAll(frontier, [await oneGrant(frontier)], {
      outcome: { kind: "dead", because: "http_status", status: 404 },
    });

    expect(await viewOf(frontier)).toMatchObject({ state: "failed", counts: { done: 1, dead: 1 } });
  });

  test("F11 a job with one page among its dead letters is finished, not failed", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await frontier.seal("job");
    await settleAll(frontier, [await oneGrant(frontier)]);

    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "dead", because: "too_big" } });

    expect((await viewOf(frontier)).state).toBe("finished");
  });

  test("F11 finishes when the reaper turns its last task into a dead letter", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    for (let nth = 0; nth < 3; nth++) {
      await oneGrant(frontier, { ...ALL, leaseMs: 10 });
      clock.advance(10);
      await frontier.reap(10);
    }

    expect((await viewOf(frontier)).state).toBe("failed");
  });

  testWith(
    "sharing",
    "F11 one process finishes a job, however many end its last tasks concurrently",
    async ({ another }) => {
      const broker = await open();
      const handles = [broker.frontier, await another(broker), await another(broker)];
      await submit(broker.frontier, aJob(), tasksAt("a.test", 30));
      const grants = await grantsOf(broker.frontier);

      const answers = await Promise.all([
        ...grants.map((grant, nth) => (handles[nth % 3] ?? broker.frontier).settle([settlementOf(grant)])),
        ...handles.map(async (frontier) => ({ finished: (await frontier.seal("job")) ? ["job"] : [] })),
      ]);

      expect(answers.flatMap(({ finished }) => finished)).toEqual(["job"]);
    },
  );
}
