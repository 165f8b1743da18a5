import { expect, it } from "vitest";
import { aJob, settlementOf, submit, tasksAt } from "../../../test/contracts/frontier/makers.ts";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { waitUntil } from "../../../test/services/wait-until.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { createLog } from "../../runtime/log.ts";
import { createPacer } from "../pace/pacer.ts";
import { createLeaseKeeper } from "./lease-keeper.ts";
import { createLeaseLoop } from "./lease-loop.ts";

const FAR_MS = 5_000;
const LEASE_MS = 6_000;

it("a worker with a concurrency of 1 leases the next task as soon as one ends, not at its next poll", async () => {
  const clock = createManualClock(1_750_000_000_000);
  const frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 1e9 });
  await submit(frontier, aJob(), tasksAt("a.test", 5));
  let begun = 0;
  const loop = createLeaseLoop(
    {
      frontier,
      pacer: createPacer({ frontier, clock }, { worker: "w", concurrency: 1 }),
      clock,
      run: async ({ taskId, token }) => {
        begun += 1;
        return { settlement: settlementOf({ taskId, token }), write: undefined, body: undefined };
      },
      settler: {
        async settle({ settlement }) {
          await frontier.settle([settlement]);
          await new Promise(setImmediate); // other results of the batch resolve first
        },
        flush: async () => {},
      },
    },
    {
      worker: "w",
      queues: ["fetch"],
      queueLimits: [{ queues: ["fetch"], tasks: 1 }],
      concurrency: 1,
      leaseMs: 60_000,
      graceMs: 0,
      maxTasks: Number.POSITIVE_INFINITY,
    },
  );
  loop.start();

  expect(await waitUntil(() => begun === 5, FAR_MS)).toBe(true);

  await loop.stop();
  await frontier.close();
});

it("renews the leases of tasks that wait for their start time, and drops those whose lease is lost", async () => {
  const clock = createManualClock(1_750_000_000_000);
  const frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 1e9 });
  const policy = { intervalMs: 100, burst: 1, perSite: 1 };
  await submit(frontier, aJob({ policy }), tasksAt("a.test", 5));
  const pacer = createPacer({ frontier, clock }, { worker: "w", concurrency: 10 });
  let begun = 0;
  const run = (_: unknown, { signal }: AbortController) =>
    new Promise<never>((_resolve, reject) => {
      begun += 1;
      signal.addEventListener("abort", () => reject(signal.reason)); // the site never responds
    });
  const settler = { settle: async () => {}, flush: async () => {} };
  const loop = createLeaseLoop(
    { frontier, pacer, clock, run, settler },
    {
      worker: "w",
      queues: ["fetch"],
      queueLimits: [{ queues: ["fetch"], tasks: Number.POSITIVE_INFINITY }],
      concurrency: 10,
      leaseMs: LEASE_MS,
      graceMs: 0,
      maxTasks: Number.POSITIVE_INFINITY,
    },
  );
  const keeper = createLeaseKeeper(
    { frontier, held: loop.held, clock, log: createLog("silent", () => {}) },
    { leaseMs: LEASE_MS },
  );
  loop.start();
  expect(await waitUntil(() => begun === 1, FAR_MS)).toBe(true);
  expect(pacer.waiting()).toBe(4);

  keeper.start();
  for (let renewals = 0; renewals < 6; renewals++) {
    clock.advance(LEASE_MS / 3);
    await new Promise(setImmediate);
  }
  expect(await frontier.reap(100)).toBe(0);

  await keeper.stop();
  const [lost, ...kept] = pacer.unstarted();
  for (const task of loop.held()) if (task.claim.taskId === lost?.taskId) task.lose(new Error("lost"));
  expect(pacer.unstarted()).toEqual(kept);
  await loop.stop();
  await frontier.close();
});
