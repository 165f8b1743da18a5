import { describe, expect, it } from "vitest";
import type { WorkerOut } from "../../../../src/api/wire-fleet.ts";
import { conditionOf } from "./condition.tsx";
import { missed, rowsOf, silenceOf, watchedAfter } from "./fleet-rows.ts";

function aWorker(worker: string, parts: Partial<WorkerOut> = {}): WorkerOut {
  const [host = "", pid] = worker.split("/");
  return {
    ...{ worker, host, pid: Number(pid), version: "1.0.0", queues: ["fetch"], unknownSpiders: [] },
    ...{ concurrency: 8, busy: 2, done: 10, failed: 0, rssBytes: 1, memoryMostBytes: null, tasksMost: null },
    ...{
      loopUse: 0.1,
      recent: null,
      state: "working",
      order: null,
      obeys: ["drain"],
      supervisor: null,
      startedAt: null,
    },
    ...{ seenAt: "2026-01-01T00:00:00.000Z", ...parts },
  };
}

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

describe("the rows of the fleet", () => {
  it("have those of a supervisor below it, machine by machine, whatever order they came in", () => {
    const supervisor = "a/10/1/1";
    const workers = [
      aWorker("b/1/1/1"),
      aWorker("a/12/1/1", { supervisor }),
      aWorker("a/3/1/1"),
      aWorker("a/11/1/1", { supervisor }),
    ];
    const rows = rowsOf(watchedAfter(undefined, workers, 0));

    expect(rows.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      ...["worker a/3/1/1", `group ${supervisor}`, "worker a/11/1/1", "worker a/12/1/1", "worker b/1/1/1"],
    ]);
  });

  it("tell who was lost from who has taken leave, and forget both after a while", () => {
    const [dead, stopped, there] = [aWorker("a/1/1/1"), aWorker("a/2/1/1"), aWorker("a/3/1/1")];
    let watched = watchedAfter(undefined, [dead, stopped, there], 0);
    for (let second = 5; second <= 15; second += 5) {
      const again = [stopped, there].map((worker) => ({ ...worker, seenAt: at(second) }));
      // The same instant, as another clock has it.
      const still = { ...dead, seenAt: new Date(Date.parse(dead.seenAt) + (second % 3)).toISOString() };
      watched = watchedAfter(watched, [still, ...again], second * 1000);
    }
    expect(silenceOf(watched, dead, 15_000)).toBe(15_000);
    expect(conditionOf(dead, 15_000).words).toBe("silent 15 s");
    watched = watchedAfter(watched, [{ ...there, seenAt: at(17) }], 17_500);

    expect(watched.gone.map(({ worker, how }) => [worker.worker, how])).toEqual([
      ["a/1/1/1", "lost"],
      ["a/2/1/1", "left"],
    ]);
    expect(rowsOf(watched).filter(({ kind }) => kind === "gone")).toHaveLength(2);
    for (let ms = 30_000; ms <= 150_000; ms += 30_000) watched = watchedAfter(watched, [there], ms);
    expect(watched.gone).toEqual([]);
  });

  it("tell a worker whose place another has taken from those that were asked to go, or may retire", () => {
    const supervisor = "a/10/1/1";
    const dead = aWorker("a/11/1/1", { supervisor });
    const recycled = aWorker("a/12/1/1", { supervisor, order: "recycle" });
    const old = aWorker("a/13/1/1", { supervisor, tasksMost: 100 });
    const other = aWorker("a/14/1/1", { supervisor, queues: ["render"] });
    const next = aWorker("a/15/1/1", { supervisor, startedAt: at(3) });
    const first = watchedAfter(undefined, [dead, recycled, old, other], 0);
    const alone = watchedAfter(first, [], 2_500);
    expect(alone.gone.map(({ how }) => how)).toEqual(["left", "left", "left", "left"]);

    const watched = watchedAfter(alone, [next], 5_000);

    expect(watched.gone.map(({ how }) => how)).toEqual(["replaced", "left", "left", "left"]);
    expect(missed(watched).map(({ worker }) => worker)).toEqual([dead]);
  });

  it("know how many tasks a second each does, from one word of it to the next", () => {
    let watched = watchedAfter(undefined, [aWorker("a/1/1/1")], 0);
    watched = watchedAfter(watched, [aWorker("a/1/1/1", { done: 60, seenAt: at(5) })], 5_000);
    watched = watchedAfter(watched, [aWorker("a/1/1/1", { done: 60, seenAt: at(5) })], 7_500);

    expect(watched.paces).toEqual(new Map([["a/1/1/1", 10]]));
    const betweenTwo = aWorker("a/1/1/1", { busy: 0 });
    expect(conditionOf(betweenTwo, 0, 10).words).toBe("working");
    expect(conditionOf(betweenTwo, 0, 0).words).toBe("idle");
  });
});
