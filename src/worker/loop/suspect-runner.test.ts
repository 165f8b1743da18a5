import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aJob,
  grantsOf,
  SUSPECTS,
  settleAll,
  settlementOf,
  submit,
  tasksAt,
} from "../../../test/contracts/frontier/makers.ts";
import { createManualClock, type ManualClock } from "../../../test/model/manual-clock.ts";
import { waitUntil } from "../../../test/services/wait-until.ts";
import type { Grant } from "../../frontier/frontier.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { createPacer } from "../pace/pacer.ts";
import type { TaskResult } from "../task/task-result.ts";
import { createLeaseLoop, type LeaseLoop } from "./lease-loop.ts";
import { untilDrained } from "./until-drained.ts";

const FAR_MS = 5_000;

describe("a worker that runs suspects", () => {
  let clock: ManualClock;
  let frontier: ReturnType<typeof openSqliteFrontier>;
  let loop: LeaseLoop;
  /**
   * The running tasks by path, with a function that ends each one; and every set of paths that ran at the same time.
   */
  const running = new Map<string, () => void>();
  const together: string[][] = [];

  beforeEach(() => {
    clock = createManualClock(1_750_000_000_000);
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 1e9 });
    running.clear();
    together.length = 0;
    loop = newLoop();
  });
  afterEach(async () => {
    for (const end of running.values()) end();
    await loop.stop();
    await frontier.close();
  });

  function newLoop(): LeaseLoop {
    const settler = { settle, flush: async () => {} };
    const queueLimits = [{ queues: ["fetch"], tasks: 4 }];
    const options = {
      worker: "w",
      queues: ["fetch"],
      queueLimits,
      concurrency: 4,
      leaseMs: 60_000,
      graceMs: 0,
      maxTasks: 9e9,
    };
    const pacer = createPacer({ frontier, clock }, options);
    return createLeaseLoop({ frontier, pacer, run, settler, clock }, options);
  }

  async function run({ taskId, token, url }: Grant, { signal }: AbortController): Promise<TaskResult> {
    const name = new URL(url).host.split(".")[0] + new URL(url).pathname;
    await new Promise<void>((resolve, reject) => {
      running.set(name, resolve);
      signal.addEventListener("abort", () => reject(signal.reason));
      together.push([...running.keys()].sort());
    }).finally(() => running.delete(name));
    return { settlement: settlementOf({ taskId, token }), write: undefined, body: undefined, pictures: {} };
  }

  async function settle({ settlement }: TaskResult): Promise<void> {
    await frontier.settle([settlement]);
  }

  /** Queues suspects at a.test, and other tasks at b.test. */
  async function queue(suspects: number, others: number): Promise<void> {
    await submit(frontier, aJob(), tasksAt("a.test", suspects));
    for (const doomed of ["one", "two"]) {
      await grantsOf(frontier, { worker: doomed });
      await frontier.abandon(doomed);
    }
    await frontier.enqueue("job", tasksAt("b.test", others));
  }

  /** Waits until exactly these run. */
  async function until(...names: string[]): Promise<void> {
    const isSo = () => names.length === running.size && names.every((name) => running.has(name));
    expect(await waitUntil(isSo, FAR_MS), `${[...running.keys()]} run, not ${names}`).toBe(true);
  }

  function end(...names: string[]): void {
    for (const name of names) running.get(name)?.();
  }

  it("runs them one by one when it is idle", async () => {
    await queue(3, 0);
    loop.start();
    for (const name of ["a/0", "a/1", "a/2"]) {
      await until(name);
      end(name);
    }
    await until();
    expect((await frontier.findJob("job"))?.counts).toMatchObject({ done: 3, dead: 0 });
  });

  it("ends its running tasks first, runs each suspect alone, and continues with other tasks afterwards", async () => {
    await queue(2, 6);
    loop.start();
    await until("b/0", "b/1", "b/2", "b/3");
    end("b/0"); // another task could run instead
    await until("b/1", "b/2", "b/3");
    end("b/1", "b/2", "b/3");
    await until("a/0");
    end("a/0");
    await until("a/1");
    end("a/1");
    await until("b/4", "b/5");
    expect(together.filter((names) => names.some((name) => name.startsWith("a")))).toEqual([["a/0"], ["a/1"]]);
  });

  it("alternates between suspects and other tasks", async () => {
    await queue(4, 2);
    loop.start();
    await until("b/0", "b/1");
    end("b/0", "b/1");
    await until("a/0");
    await frontier.enqueue("job", tasksAt("c.test", 9));
    clock.advance(1200);
    end("a/0");
    await until("a/1");
    clock.advance(1200);
    end("a/1");
    await until("c/0", "c/1", "c/2", "c/3");
    end("c/0");
    await until("c/1", "c/2", "c/3", "c/4"); // too early for the next suspect
    clock.advance(2000);
    end("c/1");
    await until("c/2", "c/3", "c/4");
    end("c/2", "c/3", "c/4");
    await until("a/2");
  });

  it("keeps its running tasks when another worker runs the suspects", async () => {
    await queue(1, 9);
    loop.start();
    await until("b/0", "b/1", "b/2", "b/3");
    await settleAll(frontier, await grantsOf(frontier, { ...SUSPECTS, worker: "another" }));
    end("b/0");
    await until("b/1", "b/2", "b/3", "b/4");
  });

  it("continues with other tasks if another worker leases the suspect while its tasks end", async () => {
    await queue(1, 9);
    loop.start();
    await until("b/0", "b/1", "b/2", "b/3");
    end("b/0");
    expect(await waitUntil(() => clock.sleepers() === 1 && running.size === 3, FAR_MS)).toBe(true);
    await settleAll(frontier, await grantsOf(frontier, { ...SUSPECTS, worker: "another" }));
    clock.advance(500);
    await until("b/1", "b/2", "b/3", "b/4");
  });

  it("stops at once, while it waits for its tasks and while it runs a suspect", async () => {
    await queue(2, 5);
    loop.start();
    await until("b/0", "b/1", "b/2", "b/3");
    end("b/0");
    await until("b/1", "b/2", "b/3");
    await loop.stop();

    expect((await frontier.findJob("job"))?.counts).toMatchObject({ queued: 6, leased: 0, done: 1 });
    const other = newLoop();
    other.start();
    await until("b/1", "b/2", "b/3", "b/4");
    end("b/1", "b/2", "b/3", "b/4");
    await until("a/0");
    await other.stop();
    expect((await frontier.findJob("job"))?.counts).toMatchObject({ queued: 2, leased: 0, done: 5 });
    expect(await grantsOf(frontier, SUSPECTS)).toHaveLength(2);
  });

  it("is not drained while a suspect waits or runs", async () => {
    await queue(1, 0);
    let [isDrained, checks] = [false, 0];
    let idleRound = (): number | undefined => 1; // idle, before it runs the suspect
    const worker = {
      idleRound: () => {
        checks += 1;
        return idleRound();
      },
    };
    const over = new AbortController();
    const options = { queues: ["fetch"], everyMs: 1 };
    const draining = untilDrained({ frontier, worker, clock, onHeldUp: () => {} }, options, over.signal).then(() => {
      isDrained = true;
    });
    /** Advances the clock until `untilDrained` has made ten more checks, or has ended. */
    const hasDrained = async () => {
      const enough = checks + 10;
      const isOver = () => {
        clock.advance(10);
        return isDrained || checks >= enough;
      };
      expect(await waitUntil(isOver, FAR_MS)).toBe(true);
      return isDrained;
    };

    expect(await hasDrained()).toBe(false);
    idleRound = loop.idleRound;
    loop.start();
    await until("a/0");
    expect(await hasDrained()).toBe(false);
    end("a/0");
    await until();
    expect(await waitUntil(hasDrained, FAR_MS)).toBe(true);
    over.abort();
    await draining;
  });
});
