import { expect } from "vitest";
import type { Suite } from "./backend.ts";
import { aJob, aTask, grantsOf, oneGrant, pathsOf, settleAll, submit, tasksAt, UNLIMITED, urlsOf } from "./makers.ts";

/** Order of grants, and its cost (F4, F5). */
export function fairness({ open, test, testWith }: Suite): void {
  test("F5 grants tasks of higher priority first, across sites and jobs", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "one" }), [
      aTask("https://a.test/later", { priority: 9 }),
      aTask("https://a.test/soon", { priority: 5 }),
      aTask("https://b.test/now", { priority: 0 }),
    ]);
    await submit(frontier, aJob({ id: "two" }), [aTask("https://c.test/first", { priority: 0 })]);

    const order = [];
    for (let nth = 0; nth < 4; nth++) order.push(await oneGrant(frontier));

    expect(pathsOf(order)).toEqual(["now", "first", "soon", "later"]);
  });

  test("F5 skips tasks of higher priority at a site that may not be requested now", async () => {
    const { frontier } = await open();
    const policy = { intervalMs: 1000, burst: 1, perSite: 5 };
    await submit(frontier, aJob({ policy }), [
      ...tasksAt("a.test", 3, { priority: 0 }),
      aTask("https://b.test/x", { priority: 9 }),
    ]);

    expect(urlsOf(await grantsOf(frontier))).toEqual(["https://a.test/0", "https://b.test/x"]);
  });

  test("F5 grants tasks of lower priority at a site that the same call has served at a higher one", async () => {
    const { frontier } = await open();
    const policy = { ...UNLIMITED, perSite: 1 };
    await submit(frontier, aJob({ policy }), [
      aTask("https://a.test/urgent", { priority: 0 }),
      aTask("https://a.test/later"),
      aTask("https://b.test/later"),
    ]);

    expect(urlsOf(await grantsOf(frontier, { max: 2 }))).toEqual(["https://a.test/urgent", "https://b.test/later"]);
  });

  test("F5 alternates between the jobs at one site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "early" }), tasksAt("a.test", 6));
    await submit(frontier, aJob({ id: "late" }), tasksAt("a.test", 3));

    const order = [];
    for (let nth = 0; nth < 6; nth++) order.push(await oneGrant(frontier));

    expect(order.map(({ jobId }) => jobId)).toEqual(["early", "late", "early", "late", "early", "late"]);
  });

  test("F5 alternates between the jobs at one site within one call", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "early" }), tasksAt("a.test", 10));
    await submit(frontier, aJob({ id: "late" }), tasksAt("a.test", 10));

    const jobIds = (await grantsOf(frontier, { max: 6 })).map(({ jobId }) => jobId);

    expect(jobIds.filter((id) => id === "early")).toHaveLength(3);
    expect(jobIds.filter((id) => id === "late")).toHaveLength(3);
  });

  test("F5 gives the share that one job cannot use to the others", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "small" }), tasksAt("a.test", 1));
    await submit(frontier, aJob({ id: "large" }), tasksAt("a.test", 9));

    const jobIds = (await grantsOf(frontier, { max: 6 })).map(({ jobId }) => jobId);

    expect(jobIds.filter((id) => id === "large")).toHaveLength(5);
  });

  test("F5 divides a call between the sites that are due", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [...tasksAt("a.test", 100), ...tasksAt("b.test", 2), ...tasksAt("c.test", 100)]);

    const sites = (await grantsOf(frontier, { max: 8 })).map(({ site }) => site);

    expect(["a.test", "b.test", "c.test"].map((site) => sites.filter((name) => name === site).length)).toEqual([
      3, 2, 3,
    ]);
  });

  test("F5 first serves the site that was served longest ago", async () => {
    const { frontier, clock } = await open();
    await submit(
      frontier,
      aJob(),
      ["a", "b", "c"].flatMap((name) => tasksAt(`${name}.test`, 5)),
    );
    const order = [];
    for (let nth = 0; nth < 7; nth++) {
      clock.advance(10);
      order.push((await oneGrant(frontier)).site);
    }

    expect(order).toEqual(["a.test", "b.test", "c.test", "a.test", "b.test", "c.test", "a.test"]);
  });

  test("F5 serves a new site after those that have waited longer", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("old.test", 3));
    await oneGrant(frontier);
    clock.advance(10);

    await frontier.enqueue("job", tasksAt("new.test", 3));

    expect([(await oneGrant(frontier)).site, (await oneGrant(frontier)).site]).toEqual(["old.test", "new.test"]);
  });

  test("F5 keeps the order of a job's URLs at a site", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 5));

    expect(pathsOf(await grantsOf(frontier))).toEqual(["0", "1", "2", "3", "4"]);
  });

  test("F5 serves tasks by priority first, and then by the given order of queues", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [
      aTask("https://a.test/f", { queue: "fetch" }),
      aTask("https://b.test/r", { queue: "render" }),
      aTask("https://c.test/u", { queue: "fetch", priority: 0 }),
    ]);

    expect(pathsOf(await grantsOf(frontier, { queues: ["render", "fetch"] }))).toEqual(["u", "r", "f"]);
  });

  test("F12 a change of priority moves all tasks of a job and keeps their order", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "moved" }), [
      aTask("https://a.test/a6", { priority: 6 }),
      aTask("https://b.test/a3", { priority: 3 }),
    ]);
    await submit(frontier, aJob({ id: "other" }), [aTask("https://c.test/b2", { priority: 2 })]);

    const view = await frontier.setPriority("moved", 2);
    expect(view.priority).toBe(2);
    await frontier.enqueue("moved", [aTask("https://d.test/a4", { priority: 4 })]);

    const order = [];
    for (let nth = 0; nth < 4; nth++) order.push(await oneGrant(frontier));
    expect(pathsOf(order)).toEqual(["a3", "a4", "b2", "a6"]);
  });

  test("F12 limits changed priorities to the range 0 to 9", async () => {
    const { frontier } = await open();
    const urgent = ["one", "two"].map((name) => aTask(`https://${name}.test/urgent`, { priority: 0 }));
    await submit(frontier, aJob(), [...urgent, aTask("https://three.test/least", { priority: 9 })]);

    await frontier.setPriority("job", 0);
    const order = [await oneGrant(frontier)];
    await frontier.setPriority("job", 9);
    order.push(await oneGrant(frontier), await oneGrant(frontier));

    expect(pathsOf(order)).toEqual(["urgent", "urgent", "least"]);
  });

  testWith(
    "costs",
    "F4 a lease call costs the same however much is pending and however many sites are blocked",
    async (costs) => {
      const small = { readySites: 5, blockedSites: 1, tasksPerSite: 2, max: 5 };

      const few = await costs.countLeaseWork(small);
      const manyTasks = await costs.countLeaseWork({ ...small, tasksPerSite: 200 });
      const manyBlocked = await costs.countLeaseWork({ ...small, blockedSites: 1000 });
      const manyReady = await costs.countLeaseWork({ ...small, readySites: 500 });

      expect([manyTasks, manyBlocked, manyReady]).toEqual([few, few, few]);
    },
  );

  testWith("costs", "F4 every statement of a lease call finds its rows by an index", async (costs) => {
    expect(await costs.listUnboundedPlans()).toEqual([]);
  });

  test("F5 grants tasks of other jobs at a site while one job there is paused", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "paused" }), tasksAt("a.test", 3));
    await submit(frontier, aJob({ id: "running" }), tasksAt("a.test", 3));
    await frontier.pause("paused");

    const grants = await grantsOf(frontier);
    await settleAll(frontier, grants);

    expect(grants.map(({ jobId }) => jobId)).toEqual(["running", "running", "running"]);
  });
}
