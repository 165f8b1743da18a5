import { expect } from "vitest";
import type { NewJob } from "../../../src/frontier/frontier.ts";
import type { Suite } from "./backend.ts";
import { aJob, aTask, countsOf, drain, grantsOf, oneGrant, settlementOf, submit, tasksAt, urlsOf } from "./makers.ts";

const DAILY: Partial<NewJob> = { dedup: { scope: "daily-news", expireAfterMs: 86_400_000 } };

/** Dedup (F9) and the page limit (F10). */
export function dedup({ open, test, testWith }: Suite): void {
  test("F9 queues a URL once, however often it is submitted or discovered", async () => {
    const { frontier } = await open();
    const [task] = tasksAt("a.test", 1);
    if (task === undefined) throw new Error("expected one task");
    await frontier.createJob(aJob());

    expect(await frontier.enqueue("job", [task, task])).toEqual({ queued: 1, duplicates: 1, refused: [] });
    expect(await frontier.enqueue("job", [{ ...task, priority: 0, depth: 9 }])).toMatchObject({
      queued: 0,
      duplicates: 1,
    });
    await frontier.settle([settlementOf(await oneGrant(frontier), { discovered: [task, task] })]);

    expect(await countsOf(frontier)).toEqual({ submitted: 3, discovered: 2, done: 1, duplicate: 4 });
    expect(await grantsOf(frontier)).toEqual([]);
  });

  test("F9 distinguishes URLs that differ in any part", async () => {
    const { frontier } = await open();
    const urls = ["https://a.test/", "http://a.test/", "https://a.test/?", "https://a.test/?a=1", "https://a.test/A"];
    await frontier.createJob(aJob());

    const answer = await frontier.enqueue(
      "job",
      urls.map((url) => aTask(url)),
    );

    expect(answer.queued).toBe(urls.length);
  });

  test("F9 keeps the seen URLs of different jobs apart", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "one" }), tasksAt("a.test", 3));
    await submit(frontier, aJob({ id: "two" }), tasksAt("a.test", 3));

    expect((await countsOf(frontier, "two")).queued).toBe(3);
  });

  test("F9 shares a named set of seen URLs between its jobs only", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "one", ...DAILY }), tasksAt("a.test", 2));
    await submit(frontier, aJob({ id: "two", ...DAILY }), tasksAt("a.test", 3));
    await submit(frontier, aJob({ id: "three", dedup: { scope: "weekly", expireAfterMs: 1e9 } }), tasksAt("a.test", 3));

    expect(await countsOf(frontier, "two")).toEqual({ submitted: 3, queued: 1, duplicate: 2 });
    expect(await countsOf(frontier, "three")).toEqual({ submitted: 3, queued: 3 });
  });

  test("F9 expires entries of a named set, counted from the time the URL was queued", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ ...DAILY }), tasksAt("a.test", 1));
    clock.advance(86_400_000 - 1);
    expect(await frontier.enqueue("job", tasksAt("a.test", 1))).toMatchObject({ duplicates: 1 });

    clock.advance(1);

    expect(await frontier.enqueue("job", tasksAt("a.test", 1))).toMatchObject({ queued: 1 });
    expect(await frontier.enqueue("job", tasksAt("a.test", 1))).toMatchObject({ duplicates: 1 });
  });

  test("F9 never expires the seen URLs of a job's own scope", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));

    clock.advance(1e12);

    expect(await frontier.enqueue("job", tasksAt("a.test", 1))).toMatchObject({ duplicates: 1 });
  });

  test("F9 a URL that was not queued is not seen", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "one", ...DAILY, limits: { pages: 1 } }), tasksAt("a.test", 2));
    expect(await countsOf(frontier, "one")).toEqual({ submitted: 2, queued: 1, refused: 1 });

    await submit(frontier, aJob({ id: "two", ...DAILY }), tasksAt("a.test", 2));

    expect(await countsOf(frontier, "two")).toEqual({ submitted: 2, queued: 1, duplicate: 1 });
  });

  testWith("sharing", "F9 recognises URLs that another process has queued", async ({ another }) => {
    const broker = await open();
    const other = await another(broker);
    await submit(broker.frontier, aJob(), tasksAt("a.test", 3));

    expect(await other.enqueue("job", tasksAt("a.test", 4))).toEqual({ queued: 1, duplicates: 3, refused: [] });
    expect(await broker.frontier.enqueue("job", tasksAt("a.test", 5))).toMatchObject({ queued: 1, duplicates: 4 });
  });

  for (const scope of [{}, DAILY]) {
    test(`F10 admits pages up to the limit, and returns which it refused (${scope.dedup?.scope ?? "job"})`, async () => {
      const { frontier } = await open();
      await frontier.createJob(aJob({ limits: { pages: 2 }, ...scope }));

      const answer = await frontier.enqueue("job", [...tasksAt("a.test", 1), ...tasksAt("a.test", 4)]);

      const refused = [3, 4].map((index) => ({ index, reason: "page_limit" }));
      expect(answer).toEqual({ queued: 2, duplicates: 1, refused });
      // A seen URL is a duplicate even above the limit.
      expect(await frontier.enqueue("job", tasksAt("a.test", 1))).toMatchObject({ duplicates: 1, refused: [] });
    });
  }

  test("F10 counts a page and its redirect target as one page", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob({ limits: { pages: 2 } }), tasksAt("a.test", 2));
    const grant = await oneGrant(frontier);
    const target = aTask("https://b.test/moved", { redirects: 1 });

    await frontier.settle([settlementOf(grant, { discovered: [target, aTask("https://b.test/another")] })]);

    expect(await countsOf(frontier)).toEqual({ submitted: 2, discovered: 2, done: 1, queued: 2, refused: 1 });
    expect(urlsOf(await drain(broker)).sort()).toEqual(["https://a.test/1", "https://b.test/moved"]);
  });
}
