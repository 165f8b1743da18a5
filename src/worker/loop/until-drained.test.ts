import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aJob, oneGrant, settleAll, submit, tasksAt } from "../../../test/contracts/frontier/makers.ts";
import { createManualClock, type ManualClock } from "../../../test/model/manual-clock.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { untilDrained } from "./until-drained.ts";

describe("a worker that drains", () => {
  let clock: ManualClock;
  let frontier: ReturnType<typeof openSqliteFrontier>;
  beforeEach(() => {
    clock = createManualClock(1_750_000_000_000);
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 100 });
  });
  afterEach(() => frontier.close());

  const settled = () => new Promise((resolve) => setImmediate(resolve));

  /** Starts a drain, which checks at once. Each call of `check` advances the clock to the next check. */
  function draining(idleRound: () => number | undefined = () => 1) {
    const over = new AbortController();
    let isDrained = false;
    const options = { queues: ["fetch"], everyMs: 500 };
    const reported: (readonly string[])[] = [];
    const onHeldUp = (jobIds: readonly string[]) => void reported.push(jobIds);
    const ended = untilDrained({ frontier, worker: { idleRound }, clock, onHeldUp }, options, over.signal).then(() => {
      isDrained = !over.signal.aborted;
    });
    return {
      reported,
      async check(): Promise<boolean> {
        await settled();
        clock.advance(500);
        await settled();
        return isDrained;
      },
      async stop() {
        over.abort();
        await ended;
      },
    };
  }

  it("continues while a task waits on its queues, or a worker that serves them holds one", async () => {
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const { check } = draining();
    expect(await check()).toBe(false);

    const grant = await oneGrant(frontier, { worker: "other" });
    expect(await check()).toBe(false);

    await settleAll(frontier, [grant], { discovered: tasksAt("b.test", 1) });
    expect(await check()).toBe(false);

    await settleAll(frontier, [await oneGrant(frontier, { worker: "other" })]);
    expect(await check()).toBe(true);
  });

  it("does not wait for other queues, nor for workers that serve only those", async () => {
    await submit(frontier, aJob(), tasksAt("a.test", 2, { queue: "render" }));
    await frontier.announce({ worker: "other", queues: ["render"], unknownSpiders: [], version: "1" }, 60_000);
    await oneGrant(frontier, { worker: "other", queues: ["render"] });

    expect(await draining().check()).toBe(true);
  });

  it("reports once that only paused jobs are left, with their ids", async () => {
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await submit(frontier, aJob({ id: "other" }), tasksAt("b.test", 1));
    await frontier.pause("job");
    const { check, reported, stop } = draining();
    expect([await check(), reported]).toEqual([false, []]);

    await settleAll(frontier, [await oneGrant(frontier)]);
    await check();
    expect([await check(), reported]).toEqual([false, [["job"]]]);
    await stop();
  });

  it("does not confuse tasks of a running job with those of a paused job on other queues", async () => {
    await submit(frontier, aJob({ id: "other" }), tasksAt("b.test", 1));
    await submit(frontier, aJob({ queue: "render" }), tasksAt("a.test", 2, { queue: "render" }));
    await submit(frontier, aJob({ id: "empty" }), []);
    for (const id of ["job", "empty"]) await frontier.pause(id);
    const { check, reported, stop } = draining();
    await check();
    expect([await check(), reported]).toEqual([false, []]);

    await frontier.pause("other");
    await check();
    await check();
    expect(reported).toEqual([["other", "job"]]);
    await stop();
  });

  it("discards a check during which the worker itself may have leased a task", async () => {
    let round = 0;
    const { check, stop } = draining(() => round++);
    expect(await check()).toBe(false);
    await stop();

    const busy = draining(() => undefined);
    expect(await busy.check()).toBe(false);
    await busy.stop();
  });
});
