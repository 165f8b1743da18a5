import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aJob, oneGrant, settleAll, submit, tasksAt } from "../../test/contracts/frontier/makers.ts";
import { createManualClock, type ManualClock } from "../../test/model/manual-clock.ts";
import { openSqliteFrontier } from "../frontier/sqlite/open.ts";
import { untilDrained } from "./drained.ts";

describe("a worker that drains", () => {
  let clock: ManualClock;
  let frontier: ReturnType<typeof openSqliteFrontier>;
  beforeEach(() => {
    clock = createManualClock(1_750_000_000_000);
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 100 });
  });
  afterEach(() => frontier.close());

  const settled = () => new Promise((resolve) => setImmediate(resolve));

  /** Looks once now, and once more whenever it is told to. */
  function draining(idleRound: () => number | undefined = () => 1) {
    const over = new AbortController();
    let isDrained = false;
    const options = { queues: ["fetch"], everyMs: 500 };
    const told: (readonly string[])[] = [];
    const onHeldUp = (jobIds: readonly string[]) => void told.push(jobIds);
    const ended = untilDrained({ frontier, worker: { idleRound }, clock, onHeldUp }, options, over.signal).then(() => {
      isDrained = !over.signal.aborted;
    });
    return {
      told,
      async look(): Promise<boolean> {
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

  it("goes on while something waits on its queues, or is held by whoever serves them", async () => {
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const { look } = draining();
    expect(await look()).toBe(false);

    const grant = await oneGrant(frontier, { worker: "other" });
    expect(await look()).toBe(false);

    await settleAll(frontier, [grant], { discovered: tasksAt("b.test", 1) });
    expect(await look()).toBe(false);

    await settleAll(frontier, [await oneGrant(frontier, { worker: "other" })]);
    expect(await look()).toBe(true);
  });

  it("does not wait for other queues, nor for those who serve only them", async () => {
    await submit(frontier, aJob(), tasksAt("a.test", 2, { queue: "render" }));
    await frontier.announce({ worker: "other", queues: ["render"], unknownSpiders: [], version: "1" }, 60_000);
    await oneGrant(frontier, { worker: "other", queues: ["render"] });

    expect(await draining().look()).toBe(true);
  });

  it("tells once that only paused jobs are left, and which", async () => {
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    await submit(frontier, aJob({ id: "other" }), tasksAt("b.test", 1));
    await frontier.pause("job");
    const { look, told, stop } = draining();
    expect([await look(), told]).toEqual([false, []]);

    await settleAll(frontier, [await oneGrant(frontier)]);
    await look();
    expect([await look(), told]).toEqual([false, [["job"]]]);
    await stop();
  });

  it("does not take a running job's URLs for those that a paused one has on other queues", async () => {
    await submit(frontier, aJob({ id: "other" }), tasksAt("b.test", 1));
    await submit(frontier, aJob({ queue: "render" }), tasksAt("a.test", 2, { queue: "render" }));
    await submit(frontier, aJob({ id: "empty" }), []);
    for (const id of ["job", "empty"]) await frontier.pause(id);
    const { look, told, stop } = draining();
    await look();
    expect([await look(), told]).toEqual([false, []]);

    await frontier.pause("other");
    await look();
    await look();
    expect(told).toEqual([["other", "job"]]);
    await stop();
  });

  it("takes no look for an answer during which the worker itself may have taken something", async () => {
    let round = 0;
    const { look, stop } = draining(() => round++);
    expect(await look()).toBe(false);
    await stop();

    const busy = draining(() => undefined);
    expect(await busy.look()).toBe(false);
    await busy.stop();
  });
});
