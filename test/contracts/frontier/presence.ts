import { expect } from "vitest";
import type { Presence } from "../../../src/frontier/frontier.ts";
import type { Suite } from "./backend.ts";
import { aJob, aTask, grantsOf, oneGrant, settlementOf, submit, tasksAt } from "./makers.ts";

const TTL_MS = 15_000;

function aPresence(worker: string, parts: Partial<Presence> = {}): Presence {
  return { worker, queues: ["fetch"], unknownSpiders: [], version: "1.2.3", ...parts };
}

/** Announcements of workers, which expire like leases (F6), commands to them (F22), and queues (F16). */
export function presence(suite: Suite): void {
  announcements(suite);
  commands(suite);
  queues(suite);

  // Warnings are possible, because many tests share the server.
  suite.test("F16 a working broker has no problems, and every warning has a fix", async () => {
    const { frontier } = await suite.open();

    const findings = await frontier.examine();

    expect(findings.length).toBeGreaterThan(0);
    expect(findings.filter(({ verdict }) => verdict === "problem")).toEqual([]);
    for (const { verdict, message, fix } of findings) {
      expect(message).not.toBe("");
      if (verdict === "warning") expect(fix).toMatch(/\S/);
    }
  });
}

function announcements({ open, test, testWith }: Suite): void {
  test("F6 lists announced workers by name, with their presence and its time", async () => {
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

  test("F6 returns the vitals of a worker's last announcement", async () => {
    const { frontier } = await open();
    const vitals = { concurrency: 32, busy: 3, done: 12_345, failed: 6, rssBytes: 2 ** 33, upMs: 86_400_000.5 };
    await frontier.announce(aPresence("one", { vitals }), TTL_MS);
    await frontier.announce(aPresence("other", { vitals }), TTL_MS);

    const later = { ...vitals, busy: 0, supervisor: "host/1/1" };
    await frontier.announce(aPresence("other", { vitals: later }), TTL_MS);

    expect((await frontier.listWorkers()).map((view) => view.vitals)).toEqual([vitals, later]);
  });

  test("F6 expires an announcement that was not renewed, and no other", async () => {
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

  test("F6 withdraws an announcement at once; withdrawing an unknown worker is a no-op", async () => {
    const { frontier } = await open();
    await frontier.announce(aPresence("one"), TTL_MS);
    await frontier.announce(aPresence("other"), TTL_MS);

    await frontier.withdraw("one");
    await frontier.withdraw("one");
    await frontier.withdraw("unknown");

    expect((await frontier.listWorkers()).map(({ worker }) => worker)).toEqual(["other"]);
  });

  test("F6 a withdrawn worker keeps its leases", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.announce(aPresence("worker"), TTL_MS);
    const grant = await oneGrant(frontier, { worker: "worker", leaseMs: 10 * TTL_MS });

    await frontier.withdraw("worker");
    clock.advance(2 * TTL_MS);

    expect(await frontier.listHolders()).toEqual([{ worker: "worker", leases: 1 }]);
    expect((await frontier.settle([settlementOf(grant)])).states).toEqual(["done"]);
  });

  testWith("sharing", "F6 lists the same workers in every process", async ({ another }) => {
    const broker = await open();
    const elsewhere = await another(broker);

    await broker.frontier.announce(aPresence("here"), TTL_MS);
    await elsewhere.announce(aPresence("there"), TTL_MS);

    expect(await broker.frontier.listWorkers()).toEqual(await elsewhere.listWorkers());
    await elsewhere.withdraw("here");
    expect((await broker.frontier.listWorkers()).map(({ worker }) => worker)).toEqual(["there"]);
  });
}

function commands({ open, test, testWith }: Suite): void {
  test("F22 returns the command with each announcement, and lists it with the worker", async () => {
    const { frontier } = await open();
    expect(await frontier.announce(aPresence("one"), TTL_MS)).toBeUndefined();
    await frontier.announce(aPresence("other"), TTL_MS);

    expect(await frontier.commandWorker("one", "recycle")).toBe(true);
    expect(await frontier.commandWorker("one", "drain")).toBe(true);

    expect(await frontier.announce(aPresence("one"), TTL_MS)).toBe("drain");
    expect(await frontier.announce(aPresence("one"), TTL_MS)).toBe("drain");
    expect(await frontier.announce(aPresence("other"), TTL_MS)).toBeUndefined();
    expect((await frontier.listWorkers()).map(({ worker, command }) => [worker, command])).toEqual([
      ["one", "drain"],
      ["other", undefined],
    ]);
  });

  test("F22 a command ends when the announcement of its worker is withdrawn or expires", async () => {
    const { frontier, clock } = await open();
    for (const worker of ["left", "lapsed", "listed"]) {
      await frontier.announce(aPresence(worker), TTL_MS);
      await frontier.commandWorker(worker, "drain-all");
    }
    await frontier.withdraw("left");
    expect(await frontier.announce(aPresence("left"), TTL_MS)).toBeUndefined();

    clock.advance(TTL_MS);
    expect(await frontier.commandWorker("lapsed", "drain")).toBe(false);
    expect(await frontier.announce(aPresence("lapsed"), TTL_MS)).toBeUndefined();
    expect((await frontier.listWorkers()).map(({ worker, command }) => [worker, command])).toEqual([
      ["lapsed", undefined],
    ]);
    expect(await frontier.announce(aPresence("listed"), TTL_MS)).toBeUndefined();
  });

  test("F22 accepts no command to an unknown worker", async () => {
    const { frontier } = await open();

    expect(await frontier.commandWorker("unknown", "drain")).toBe(false);

    expect(await frontier.announce(aPresence("unknown"), TTL_MS)).toBeUndefined();
  });

  testWith("sharing", "F22 delivers a command from one process to a worker in another", async ({ another }) => {
    const broker = await open();
    const elsewhere = await another(broker);
    await broker.frontier.announce(aPresence("here"), TTL_MS);

    await elsewhere.commandWorker("here", "recycle");

    expect(await broker.frontier.announce(aPresence("here"), TTL_MS)).toBe("recycle");
  });
}

function queues({ open, test }: Suite): void {
  test("F16 counts the waiting tasks of each queue, with retries and without leased tasks", async () => {
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

  test("F16 counts waiting tasks of paused jobs, and none of cancelled jobs", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 3));
    await submit(frontier, aJob({ id: "other" }), tasksAt("b.test", 2));

    await frontier.pause("job");
    await frontier.cancel("other");

    expect(await frontier.listQueues()).toEqual([{ queue: "fetch", waiting: 3 }]);
  });
}
