import { expect } from "vitest";
import type { Presence } from "../../../src/frontier/frontier.ts";
import type { Suite } from "./backend.ts";
import { aJob, aTask, grantsOf, oneGrant, settlementOf, submit, tasksAt } from "./makers.ts";

const TTL_MS = 15_000;

function aPresence(worker: string, parts: Partial<Presence> = {}): Presence {
  return { worker, queues: ["fetch"], unknownSpiders: [], version: "1.2.3", ...parts };
}

/** Who is there, which lapses by the clock like a lease (F6), and what waits for them (F16). */
export function presence(suite: Suite): void {
  announcements(suite);
  orders(suite);
  queues(suite);

  // Warnings there may be: a server that many tests share is not one to rely on.
  suite.test("F16 finds no problem with a broker that works, and has a way out of whatever it warns of", async () => {
    const { frontier } = await suite.open();

    const findings = await frontier.examine();

    expect(findings.length).toBeGreaterThan(0);
    expect(findings.filter(({ verdict }) => verdict === "problem")).toEqual([]);
    for (const { verdict, says, fix } of findings) {
      expect(says).not.toBe("");
      if (verdict === "warning") expect(fix).toMatch(/\S/);
    }
  });
}

function announcements({ open, test, testWith }: Suite): void {
  test("F6 lists who has announced itself, by name, with what it said and when", async () => {
    const { frontier, clock } = await open();
    const one = aPresence("host/1/1", { queues: ["fetch", "render"], unknownSpiders: ["/srv/shop.ts"] });
    const other = aPresence("host/2/2", { queues: [] });

    await frontier.announce(other, TTL_MS);
    await frontier.announce(one, TTL_MS);

    const seenAt = clock.now();
    expect(await frontier.listWorkers()).toEqual([
      { ...one, seenAt },
      { ...other, seenAt },
    ]);
  });

  test("F6 gives back how a worker is doing, as it last said", async () => {
    const { frontier } = await open();
    const vitals = { concurrency: 32, busy: 3, done: 12_345, failed: 6, rssBytes: 2 ** 33, upMs: 86_400_000.5 };
    await frontier.announce(aPresence("one", { vitals }), TTL_MS);
    await frontier.announce(aPresence("other", { vitals }), TTL_MS);

    const later = { ...vitals, busy: 0, supervisor: "host/1/1" };
    await frontier.announce(aPresence("other", { vitals: later }), TTL_MS);

    expect((await frontier.listWorkers()).map((view) => view.vitals)).toEqual([vitals, later]);
  });

  test("F6 forgets an announcement that was not said again in time, and only that one", async () => {
    const { frontier, clock } = await open();
    await frontier.announce(aPresence("gone"), TTL_MS);
    await frontier.announce(aPresence("there"), TTL_MS);
    clock.advance(TTL_MS - 1);
    expect(await frontier.listWorkers()).toHaveLength(2);

    await frontier.announce(aPresence("there", { queues: ["parse"] }), TTL_MS);
    clock.advance(2);

    expect(await frontier.listWorkers()).toEqual([
      { ...aPresence("there", { queues: ["parse"] }), seenAt: clock.now() - 2 },
    ]);
    clock.advance(TTL_MS);
    expect(await frontier.listWorkers()).toEqual([]);
  });

  test("F6 takes an announcement back at once; taking back what is not there is nothing", async () => {
    const { frontier } = await open();
    await frontier.announce(aPresence("one"), TTL_MS);
    await frontier.announce(aPresence("other"), TTL_MS);

    await frontier.withdraw("one");
    await frontier.withdraw("one");
    await frontier.withdraw("nobody");

    expect((await frontier.listWorkers()).map(({ worker }) => worker)).toEqual(["other"]);
  });

  test("F6 leaves the leases of a worker alone when its announcement goes", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.announce(aPresence("worker"), TTL_MS);
    const grant = await oneGrant(frontier, { worker: "worker", leaseMs: 10 * TTL_MS });

    await frontier.withdraw("worker");
    clock.advance(2 * TTL_MS);

    expect(await frontier.listHolders()).toEqual([{ worker: "worker", leases: 1 }]);
    expect((await frontier.settle([settlementOf(grant)])).verdicts).toEqual(["settled"]);
  });

  testWith("sharing", "F6 tells every process who is there", async ({ another }) => {
    const broker = await open();
    const elsewhere = await another(broker);

    await broker.frontier.announce(aPresence("here"), TTL_MS);
    await elsewhere.announce(aPresence("there"), TTL_MS);

    expect(await broker.frontier.listWorkers()).toEqual(await elsewhere.listWorkers());
    await elsewhere.withdraw("here");
    expect((await broker.frontier.listWorkers()).map(({ worker }) => worker)).toEqual(["there"]);
  });
}

function orders({ open, test, testWith }: Suite): void {
  test("F22 tells a worker what is asked of it with each announcement, and shows it to whoever looks", async () => {
    const { frontier } = await open();
    expect(await frontier.announce(aPresence("one"), TTL_MS)).toBeUndefined();
    await frontier.announce(aPresence("other"), TTL_MS);

    expect(await frontier.orderWorker("one", "recycle")).toBe(true);
    expect(await frontier.orderWorker("one", "drain")).toBe(true);

    expect(await frontier.announce(aPresence("one"), TTL_MS)).toBe("drain");
    expect(await frontier.announce(aPresence("one"), TTL_MS)).toBe("drain");
    expect(await frontier.announce(aPresence("other"), TTL_MS)).toBeUndefined();
    expect((await frontier.listWorkers()).map(({ worker, order }) => [worker, order])).toEqual([
      ["one", "drain"],
      ["other", undefined],
    ]);
  });

  test("F22 forgets an order with the announcement: withdrawn, or not said again in time", async () => {
    const { frontier, clock } = await open();
    for (const worker of ["left", "lapsed", "listed"]) {
      await frontier.announce(aPresence(worker), TTL_MS);
      await frontier.orderWorker(worker, "drain-all");
    }
    await frontier.withdraw("left");
    expect(await frontier.announce(aPresence("left"), TTL_MS)).toBeUndefined();

    clock.advance(TTL_MS);
    expect(await frontier.orderWorker("lapsed", "drain")).toBe(false);
    expect(await frontier.announce(aPresence("lapsed"), TTL_MS)).toBeUndefined();
    expect((await frontier.listWorkers()).map(({ worker, order }) => [worker, order])).toEqual([["lapsed", undefined]]);
    expect(await frontier.announce(aPresence("listed"), TTL_MS)).toBeUndefined();
  });

  test("F22 takes no order for who is not there", async () => {
    const { frontier } = await open();

    expect(await frontier.orderWorker("nobody", "drain")).toBe(false);

    expect(await frontier.announce(aPresence("nobody"), TTL_MS)).toBeUndefined();
  });

  testWith("sharing", "F22 carries an order from one process to another", async ({ another }) => {
    const broker = await open();
    const elsewhere = await another(broker);
    await broker.frontier.announce(aPresence("here"), TTL_MS);

    await elsewhere.orderWorker("here", "recycle");

    expect(await broker.frontier.announce(aPresence("here"), TTL_MS)).toBe("recycle");
  });
}

function queues({ open, test }: Suite): void {
  test("F16 counts what waits on each queue, retries included and leased tasks not, over all jobs and sites", async () => {
    const { frontier } = await open();
    expect(await frontier.listQueues()).toEqual([]);
    await submit(frontier, aJob(), [...tasksAt("a.test", 3), ...tasksAt("b.test", 2, { queue: "render" })]);
    await submit(frontier, aJob({ id: "other" }), [aTask("https://c.test/", { priority: 0 })]);

    expect(await frontier.listQueues()).toEqual([
      { queue: "fetch", waiting: 4 },
      { queue: "render", waiting: 2 },
    ]);

    const first = await oneGrant(frontier);
    const rest = await grantsOf(frontier, { queues: ["render"] });
    expect(await frontier.listQueues()).toEqual([{ queue: "fetch", waiting: 3 }]);

    await frontier.settle([settlementOf(first, { outcome: { kind: "retry", because: "timeout" } })]);
    await frontier.release(rest);
    expect(await frontier.listQueues()).toEqual([
      { queue: "fetch", waiting: 4 },
      { queue: "render", waiting: 2 },
    ]);
  });

  test("F16 counts what a paused job has waiting, and nothing of a cancelled one", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 3));
    await submit(frontier, aJob({ id: "other" }), tasksAt("b.test", 2));

    await frontier.pause("job");
    await frontier.cancel("other");

    expect(await frontier.listQueues()).toEqual([{ queue: "fetch", waiting: 3 }]);
  });
}
