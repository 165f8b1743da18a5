import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aJob, grantsOf, settlementOf, submit, tasksAt } from "../../../test/contracts/frontier/makers.ts";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { waitUntil } from "../../../test/services/wait-until.ts";
import type { Grant, LeaseRequest, Settlement } from "../../frontier/frontier.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { createPacer } from "../pace/pacer.ts";
import { createLeaseLoop, type LeaseLoop } from "./lease-loop.ts";

const FAR_MS = 5_000;
const LIMITS = [
  { queues: ["render"], tasks: 2 },
  { queues: ["fetch"], tasks: 6 },
];

describe("a worker with queue limits", () => {
  let frontier: ReturnType<typeof openSqliteFrontier>;
  let loop: LeaseLoop;
  /** The running tasks, and how to end them. */
  const running = new Map<string, { kind: string; end: () => void }>();
  const begun: string[] = [];
  const leaseCalls: LeaseRequest[] = [];

  beforeEach(() => {
    const clock = createManualClock(1_750_000_000_000);
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 1e9 });
    running.clear();
    begun.length = 0;
    leaseCalls.length = 0;
    const settler = {
      settle: async (settlement: Settlement) => void (await frontier.settle([settlement])),
      flush: async () => {},
    };
    const counted = { ...frontier, lease };
    const options = { worker: "w", queues: ["fetch", "render"], queueLimits: LIMITS, concurrency: 6, leaseMs: 60_000 };
    const pacer = createPacer({ frontier, clock }, options);
    loop = createLeaseLoop(
      { frontier: counted, pacer, run, settler, clock },
      { ...options, graceMs: 0, maxTasks: 9e9 },
    );
  });
  afterEach(async () => {
    for (const { end } of running.values()) end();
    await loop.stop();
    await frontier.close();
  });

  function lease(request: LeaseRequest) {
    leaseCalls.push(request);
    return frontier.lease(request);
  }

  async function run({ taskId, token, kind }: Grant): Promise<Settlement> {
    begun.push(kind);
    await new Promise<void>((end) => running.set(taskId, { kind, end })).finally(() => running.delete(taskId));
    return settlementOf({ taskId, token });
  }

  async function submitBoth(rendered: number, fetched: number): Promise<void> {
    const shown = tasksAt("shown.test", rendered, { kind: "render", queue: "render" });
    await submit(frontier, aJob(), [...shown, ...tasksAt("plain.test", fetched)]);
  }

  const ofKind = (kind: string) => [...running.values()].filter((one) => one.kind === kind);
  const counts = () => [ofKind("render").length, ofKind("fetch").length];

  it("runs at most as many tasks of a queue as its limit, and leaves the rest to other workers", async () => {
    await submitBoth(5, 20);
    loop.start();
    expect(await waitUntil(() => running.size === 6, FAR_MS)).toBe(true);

    expect(counts()).toEqual([2, 4]);
    expect(await grantsOf(frontier, { worker: "other", queues: ["render"] })).toHaveLength(3);
  });

  it("leases the next task as soon as one of the queue ends", async () => {
    await submitBoth(5, 1);
    loop.start();
    for (const total of [2, 3, 4, 5]) {
      expect(await waitUntil(() => begun.filter((kind) => kind === "render").length === total, FAR_MS)).toBe(true);
      expect(ofKind("render").length).toBeLessThanOrEqual(2);
      ofKind("render")[0]?.end();
    }
  });

  it("makes no needless lease calls while a limit is reached", async () => {
    await submitBoth(5, 1);
    loop.start();
    expect(await waitUntil(() => running.size === 3 && loop.idleRound() === undefined, FAR_MS)).toBe(true);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    const before = leaseCalls.length;
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(leaseCalls.length).toBe(before);
  });
});
