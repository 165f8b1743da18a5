import { expect, it } from "vitest";
import type { HistoryPointOut, JobOut } from "../../client/wire-types.ts";
import type { WorkerView } from "../../frontier/frontier-admin.ts";
import { createSnapshotReader, type FleetPlane } from "./fleet-snapshot.ts";

const AT = Date.parse("2026-11-16T15:00:00Z");

function worker(name: string, pages: number, seenAt: number): WorkerView {
  const recent = { ms: 8_000, pages, done: pages, failed: 0, latencies: [] };
  const vitals = { concurrency: 8, busy: 1, done: 9, failed: 0, rssBytes: 1, upMs: 60_000, recent };
  return { worker: name, queues: ["fetch"], unknownSpiders: [], version: "1.0.0", vitals, seenAt };
}

it("sums the pages of all workers, except those without a recent heartbeat", async () => {
  let workers = [worker("a", 16, AT), worker("b", 8, AT), worker("gone", 800, AT - 11_000)];
  const plane: FleetPlane = {
    listJobs: async () => [],
    listQueues: async () => [],
    listTopSites: async () => [],
    listWorkers: async () => workers,
    readHistory: async () => [{ pagesPerSecond: 5 }, { pagesPerSecond: 1 }] as HistoryPointOut[],
  };
  const snapshot = createSnapshotReader(plane, () => AT);

  expect((await snapshot()).totals.pagesPerSecond).toBe(3);
  expect((await snapshot()).totals.pagesPerSecond).toBe(3);
  workers = [];
  expect((await snapshot()).totals.pagesPerSecond).toBe(5); // from the last complete history bucket
});

it("lists running and paused jobs before newer jobs that have ended", async () => {
  const job = (nth: number, state: string) =>
    ({ id: `${nth}-${state}`, state, createdAt: new Date(AT + nth).toISOString(), counts: {} }) as JobOut;
  const newest = Array.from({ length: 100 }, (_, nth) => job(900 - nth, "finished"));
  const plane: FleetPlane = {
    listJobs: async (_, { state }) =>
      state === undefined ? newest : state === "running" ? [job(3, state), job(1, state)] : [job(2, state)],
    listQueues: async () => [],
    listTopSites: async () => [],
    listWorkers: async () => [],
    readHistory: async () => [],
  };

  const { jobs } = await createSnapshotReader(plane, () => AT)();

  expect(jobs).toHaveLength(100);
  expect(jobs.slice(0, 4).map(({ id }) => id)).toEqual(["3-running", "2-paused", "1-running", "900-finished"]);
});
