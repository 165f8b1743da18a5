import { expect, it } from "vitest";
import { aJob, settlementOf, submit, tasksAt } from "../../../test/contracts/frontier/makers.ts";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { waitUntil } from "../../../test/services/wait-until.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { createPacer } from "../pace/pacer.ts";
import { createLeaseLoop } from "./lease-loop.ts";

const FAR_MS = 5_000;

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
