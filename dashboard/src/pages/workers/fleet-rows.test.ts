import { describe, expect, it } from "vitest";
import type { WorkerOut } from "../../../../src/client/wire-types.ts";
import { lostWorkers, nextSnapshot, rowsOf, silentMsOf } from "./fleet-rows.ts";
import { workerStatusOf } from "./worker-status.tsx";

function aWorker(worker: string, parts: Partial<WorkerOut> = {}): WorkerOut {
  const [host = "", pid] = worker.split("/");
  return {
    ...{ worker, host, pid: Number(pid), version: "1.0.0", queues: ["fetch"], unknownSpiders: [] },
    ...{ concurrency: 8, busy: 2, done: 10, failed: 0, rssBytes: 1, maxMemoryBytes: null, maxTasks: null },
    ...{
      eventLoopUse: 0.1,
      recent: null,
      state: "working",
      command: null,
      commands: ["drain"],
      supervisor: null,
      startedAt: null,
    },
    ...{ seenAt: "2026-01-01T00:00:00.000Z", ...parts },
  };
}

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

describe("the worker list", () => {
  it("groups workers by machine and supervisor, independent of their order in the response", () => {
    const supervisor = "a/10/1/1";
    const workers = [
      aWorker("b/1/1/1"),
      aWorker("a/12/1/1", { supervisor }),
      aWorker("a/3/1/1"),
      aWorker("a/11/1/1", { supervisor }),
    ];
    const rows = rowsOf(nextSnapshot(undefined, workers, 0));

    expect(rows.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      ...["worker a/3/1/1", `group ${supervisor}`, "worker a/11/1/1", "worker a/12/1/1", "worker b/1/1/1"],
    ]);
  });

  it("distinguishes lost workers from stopped ones, and drops both after a while", () => {
    const [dead, stopped, running] = [aWorker("a/1/1/1"), aWorker("a/2/1/1"), aWorker("a/3/1/1")];
    let snapshot = nextSnapshot(undefined, [dead, stopped, running], 0);
    for (let second = 5; second <= 15; second += 5) {
      const again = [stopped, running].map((worker) => ({ ...worker, seenAt: at(second) }));
      // The same heartbeat, converted by a server with a slightly different clock.
      const still = { ...dead, seenAt: new Date(Date.parse(dead.seenAt) + (second % 3)).toISOString() };
      snapshot = nextSnapshot(snapshot, [still, ...again], second * 1000);
    }
    expect(silentMsOf(snapshot, dead, 15_000)).toBe(15_000);
    expect(workerStatusOf(dead, 15_000).label).toBe("silent 15 s");
    snapshot = nextSnapshot(snapshot, [{ ...running, seenAt: at(17) }], 17_500);

    expect(snapshot.gone.map(({ worker, how }) => [worker.worker, how])).toEqual([
      ["a/1/1/1", "lost"],
      ["a/2/1/1", "left"],
    ]);
    expect(rowsOf(snapshot).filter(({ kind }) => kind === "gone")).toHaveLength(2);
    for (let ms = 30_000; ms <= 150_000; ms += 30_000) snapshot = nextSnapshot(snapshot, [running], ms);
    expect(snapshot.gone).toEqual([]);
  });

  it("reports a replaced worker as lost, but not one that was recycled or may have reached its limit", () => {
    const supervisor = "a/10/1/1";
    const dead = aWorker("a/11/1/1", { supervisor });
    const recycled = aWorker("a/12/1/1", { supervisor, command: "recycle" });
    const old = aWorker("a/13/1/1", { supervisor, maxTasks: 100 });
    const other = aWorker("a/14/1/1", { supervisor, queues: ["render"] });
    const next = aWorker("a/15/1/1", { supervisor, startedAt: at(3) });
    const first = nextSnapshot(undefined, [dead, recycled, old, other], 0);
    const alone = nextSnapshot(first, [], 2_500);
    expect(alone.gone.map(({ how }) => how)).toEqual(["left", "left", "left", "left"]);

    const snapshot = nextSnapshot(alone, [next], 5_000);

    expect(snapshot.gone.map(({ how }) => how)).toEqual(["replaced", "left", "left", "left"]);
    expect(lostWorkers(snapshot).map(({ worker }) => worker)).toEqual([dead]);
  });

  it("computes tasks per second from two heartbeats", () => {
    let snapshot = nextSnapshot(undefined, [aWorker("a/1/1/1")], 0);
    snapshot = nextSnapshot(snapshot, [aWorker("a/1/1/1", { done: 60, seenAt: at(5) })], 5_000);
    snapshot = nextSnapshot(snapshot, [aWorker("a/1/1/1", { done: 60, seenAt: at(5) })], 7_500);

    expect(snapshot.paces).toEqual(new Map([["a/1/1/1", 10]]));
    const betweenTasks = aWorker("a/1/1/1", { busy: 0 });
    expect(workerStatusOf(betweenTasks, 0, 10).label).toBe("working");
    expect(workerStatusOf(betweenTasks, 0, 0).label).toBe("idle");
  });
});
