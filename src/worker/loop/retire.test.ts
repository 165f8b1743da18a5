import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aJob, settlementOf, submit, tasksAt } from "../../../test/contracts/frontier/makers.ts";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { waitUntil } from "../../../test/services/wait-until.ts";
import type { Grant } from "../../frontier/frontier.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { createPacer } from "../pace/pacer.ts";
import type { TaskResult } from "../task/task-result.ts";
import { createLeaseLoop, type LeaseLoop } from "./lease-loop.ts";

const WAIT_TIMEOUT_MS = 5_000;

describe("a worker that retires", () => {
  const clock = createManualClock(1_750_000_000_000);
  let frontier: ReturnType<typeof openSqliteFrontier>;
  const running = new Set<() => void>();
  let begun = 0;

  beforeEach(async () => {
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 1e9 });
    await submit(frontier, aJob(), tasksAt("a.test", 9));
    running.clear();
    begun = 0;
  });
  afterEach(() => frontier.close());

  function newLoop(maxTasks: number): LeaseLoop {
    const settler = { settle: async ({ settlement }: TaskResult) => void (await frontier.settle([settlement])) };
    const queueLimits = [{ queues: ["fetch"], tasks: 4 }];
    const options = {
      worker: "w",
      queues: ["fetch"],
      queueLimits,
      concurrency: 4,
      leaseMs: 60_000,
      graceMs: 0,
      maxTasks,
    };
    const pacer = createPacer({ frontier, clock }, options);
    const deps = { frontier, pacer, run, clock, settler: { ...settler, flush: async () => {} } };
    return createLeaseLoop(deps, options);
  }

  async function run({ taskId, token }: Grant): Promise<TaskResult> {
    begun += 1;
    await new Promise<void>((resolve) => running.add(resolve));
    return { settlement: settlementOf({ taskId, token }), write: undefined, body: undefined, pictures: {} };
  }

  function endAll(): void {
    for (const end of running) end();
    running.clear();
  }

  it("leases exactly maxTasks tasks, and ends when they have ended", async () => {
    const loop = newLoop(6);
    loop.start();
    expect(await waitUntil(() => running.size === 4, WAIT_TIMEOUT_MS)).toBe(true);
    expect(loop.retiring.aborted).toBe(false);
    endAll();
    expect(await waitUntil(() => running.size === 2, WAIT_TIMEOUT_MS)).toBe(true);
    expect(loop.retiring.aborted).toBe(true);
    endAll();

    await loop.ended;
    expect(begun).toBe(6);
    expect((await frontier.findJob("job"))?.counts).toMatchObject({ done: 6, queued: 3, leased: 0 });
  });

  it("waits for its running tasks without a time limit, unlike a worker that stops", async () => {
    const loop = newLoop(Number.POSITIVE_INFINITY);
    loop.start();
    expect(await waitUntil(() => running.size === 4, WAIT_TIMEOUT_MS)).toBe(true);
    loop.retire();
    clock.advance(3_600_000);
    endAll();
    await loop.ended;
    expect((await frontier.findJob("job"))?.counts).toMatchObject({ done: 4, queued: 5, leased: 0 });

    const other = newLoop(Number.POSITIVE_INFINITY);
    other.start();
    expect(await waitUntil(() => running.size === 4, WAIT_TIMEOUT_MS)).toBe(true);
    other.retire();
    const stopped = other.stop();
    await waitUntil(async () => {
      clock.advance(1_000);
      return (await frontier.findJob("job"))?.counts.leased === 0;
    }, WAIT_TIMEOUT_MS);
    await stopped;
    expect((await frontier.findJob("job"))?.counts).toMatchObject({ done: 4, queued: 5, leased: 0 });
  });
});
