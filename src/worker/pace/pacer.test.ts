import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/model/manual-clock.ts";
import type { ReturnedTerm, Term } from "../../domain/politeness.ts";
import { NO_RESPONSES } from "../../domain/throttling.ts";
import type { Grant, TermRequest } from "../../frontier/frontier.ts";
import { createPacer } from "./pacer.ts";
import type { Pacer } from "./pacer-interface.ts";

const START = 1_750_000_000_000;
const NOTHING_SETTLED = new Map<string, number>();

describe("a pacer", () => {
  let clock: ManualClock;
  let pacer: Pacer;
  let opened: TermRequest[];
  let next: Term | undefined;
  const startedTasks: string[] = [];
  const lowAt: number[] = [];
  const never = new AbortController().signal;

  beforeEach(() => {
    clock = createManualClock(START);
    opened = [];
    next = undefined;
    startedTasks.length = 0;
    lowAt.length = 0;
    const openTerm = async (request: TermRequest) => {
      opened.push(request);
      return next;
    };
    pacer = createPacer({ frontier: { openTerm }, clock }, { worker: "w", concurrency: 3 });
    pacer.attach({ start: ({ taskId }) => startedTasks.push(taskId), onLow: (at) => lowAt.push(at - START) });
  });
  afterEach(() => pacer.stop());

  const settled = () => new Promise((resolve) => setImmediate(resolve));

  function aTerm(site: string, parts: Partial<Term> = {}): Term {
    const rate = { intervalMs: 100, burst: 1 };
    return {
      ...{ site, number: 1, ...rate, startsAt: clock.now(), endsAt: clock.now() + 2000, arrivalAt: 0, concurrent: 4 },
      ...{ slowdown: 1, throttling: NO_RESPONSES },
      ...parts,
    };
  }

  function grantsAt(site: string, ...ids: string[]): Grant[] {
    return ids.map((taskId) => ({
      ...{ taskId, token: 1, jobId: "j", url: `https://${site}/${taskId}`, site, kind: "fetch", depth: 0, attempt: 1 },
      ...{ redirects: 0, mustFetchRobots: false },
    }));
  }

  /** Sends the request of a task that the pacer has started. */
  async function send(site: string): Promise<boolean> {
    await pacer.allowance.turn(site, never);
    const isSent = pacer.allowance.trySend(site);
    await settled();
    return isSent;
  }

  function end(site: string, taskId: string): void {
    const claim = { taskId, token: 1 };
    pacer.ended(claim);
    pacer.settling(claim);
    pacer.over(claim);
    void site;
  }

  async function advance(ms: number): Promise<void> {
    clock.advance(ms);
    await settled();
  }

  it("starts tasks of a site without a rate at once, and lets their requests leave", async () => {
    pacer.add({ grants: grantsAt("a.test", "1", "2"), terms: [] }, NOTHING_SETTLED);
    expect(startedTasks).toEqual(["1", "2"]);
    expect(pacer.allowance.turn("a.test", never)).toBeUndefined();
    expect(pacer.allowance.trySend("a.test")).toBe(true);
    expect(opened).toEqual([]);
  });

  it("starts the tasks of a term one interval after the last request", async () => {
    pacer.add({ grants: grantsAt("a.test", "1", "2", "3"), terms: [aTerm("a.test")] }, NOTHING_SETTLED);
    expect(startedTasks).toEqual(["1"]);
    await advance(30);
    expect(await send("a.test")).toBe(true);
    await advance(99);
    expect(startedTasks).toEqual(["1"]);
    await advance(1);
    expect(startedTasks).toEqual(["1", "2"]);
    expect(pacer.waiting()).toBe(1);
  });

  it("starts another task if the one before ends without a request", async () => {
    pacer.add({ grants: grantsAt("a.test", "1", "2"), terms: [aTerm("a.test")] }, NOTHING_SETTLED);
    end("a.test", "1");
    expect(startedTasks).toEqual(["1", "2"]);
  });

  it("starts another task if the one before needs more than an interval to connect", async () => {
    pacer.add({ grants: grantsAt("a.test", "1", "2"), terms: [aTerm("a.test")] }, NOTHING_SETTLED);
    await advance(100);
    expect(startedTasks).toEqual(["1", "2"]);
    expect(await send("a.test")).toBe(true);
    expect(pacer.allowance.trySend("a.test")).toBe(false);
  });

  it("limits the tasks at a site by the concurrency of its term, and all tasks by that of the worker", async () => {
    const terms = [aTerm("a.test", { concurrent: 1 }), aTerm("b.test", { burst: 9 })];
    const grants = [...grantsAt("a.test", "a1", "a2"), ...grantsAt("b.test", "b1", "b2", "b3")];
    pacer.add({ grants, terms }, NOTHING_SETTLED);
    await send("a.test");
    await send("b.test");
    await send("b.test");
    await advance(150);
    expect(startedTasks).toEqual(["a1", "b1", "b2"]);
    expect(pacer.wasLate()).toBe(false);
    end("a.test", "a1");
    await advance(0);
    expect(startedTasks).toEqual(["a1", "b1", "b2", "b3"]);
    end("b.test", "b1");
    expect(startedTasks.at(-1)).toBe("a2");
    await advance(300);
    expect(pacer.wasLate()).toBe(false);
  });

  it("lets further requests of a task wait for their turn, before other tasks", async () => {
    pacer.add({ grants: grantsAt("a.test", "1", "2"), terms: [aTerm("a.test")] }, NOTHING_SETTLED);
    await send("a.test");
    let isSent = false;
    const second = send("a.test").then((sent) => {
      isSent = sent;
    });
    await advance(99);
    expect(isSent).toBe(false);
    await advance(1);
    await second;
    expect([isSent, startedTasks]).toEqual([true, ["1"]]);
    await advance(100);
    expect(startedTasks).toEqual(["1", "2"]);
  });

  it("opens a term for a request at a site that has none, and lets it pass where there is no rate", async () => {
    await send("free.test");
    expect(opened).toEqual([{ worker: "w", site: "free.test", returned: undefined }]);

    next = aTerm("b.test", { startsAt: START + 500, endsAt: START + 2500 });
    const sending = send("b.test");
    await advance(499);
    expect(pacer.allowance.trySend("b.test")).toBe(false);
    await advance(1);
    expect(await sending).toBe(true);
  });

  it("fails a request whose term cannot be opened, and forgets it when it is aborted", async () => {
    const lost = new Error("lost");
    const broken = createPacer(
      { frontier: { openTerm: () => Promise.reject(lost) }, clock },
      { worker: "w", concurrency: 1 },
    );
    await expect(broken.allowance.turn("a.test", never)).rejects.toBe(lost);
    broken.stop();

    pacer.add({ grants: [], terms: [aTerm("a.test", { startsAt: START + 1000 })] }, NOTHING_SETTLED);
    const aborting = new AbortController();
    const waiting = pacer.allowance.turn("a.test", aborting.signal);
    aborting.abort();
    await waiting;
    expect(pacer.collect().returned).toEqual([]);
    await advance(1000);
    expect(pacer.allowance.trySend("a.test")).toBe(true);
  });

  it("sends nothing at the end of a term, and opens another one for a request that still waits", async () => {
    pacer.add({ grants: grantsAt("a.test", "1"), terms: [aTerm("a.test")] }, NOTHING_SETTLED);
    await send("a.test");
    clock.advance(1960);
    expect(pacer.allowance.trySend("a.test")).toBe(false);
    next = aTerm("a.test", { number: 2 });
    expect(await send("a.test")).toBe(true);
    expect(opened).toMatchObject([{ site: "a.test", returned: { number: 1, unstarted: 0 } }]);
  });

  it("asks for more tasks in time, and returns a term that has none left", async () => {
    const terms = [aTerm("a.test", { intervalMs: 500 })];
    pacer.add({ grants: grantsAt("a.test", "1"), terms }, NOTHING_SETTLED);
    expect(pacer.collect()).toMatchObject({ returned: [], late: [] });
    await advance(10);
    await send("a.test");
    expect(lowAt[0]).toBeCloseTo(10 + 499.2 - 50, 1);
    await advance(290);
    expect(pacer.collect().returned).toEqual([]);
    await advance(10);
    const [returned] = pacer.collect().returned as [ReturnedTerm];
    expect(returned).toMatchObject({ site: "a.test", number: 1, unstarted: 0 });
    expect(returned.arrivalAt - START).toBeCloseTo(509.2, 1);
    expect(pacer.allowance.trySend("a.test")).toBe(false);
  });

  it("lets the result of a task wait while other tasks of its site wait and the worker can run more tasks", async () => {
    const terms = [aTerm("a.test", { intervalMs: 100, concurrent: 8 })];
    pacer.add({ grants: grantsAt("a.test", "1", "2", "3"), terms }, NOTHING_SETTLED);
    await send("a.test");
    // Two tasks wait, so the site needs more tasks after 2 intervals and the rest of this one. Half of that is spare.
    expect(pacer.spareMs({ taskId: "1", token: 1 })).toBeCloseTo(299.2 / 2, 1);
    await advance(100);
    expect(startedTasks).toEqual(["1", "2"]);
    expect(pacer.spareMs({ taskId: "1", token: 1 })).toBe(0); // the worker runs more than half of its concurrency
    expect(pacer.spareMs({ taskId: "unknown", token: 1 })).toBe(0);
  });

  it("returns a term at once if it allows no further request", async () => {
    const slow = { intervalMs: 3_600_000 };
    pacer.add({ grants: grantsAt("a.test", "1"), terms: [aTerm("a.test", slow)] }, NOTHING_SETTLED);
    await send("a.test");
    expect(lowAt).toEqual([-START]);
    expect(pacer.collect().returned).toMatchObject([{ number: 1, unstarted: 0 }]);
  });

  it("keeps a term with unstarted tasks while it asks for another one", async () => {
    const fast = { intervalMs: 20 };
    pacer.add({ grants: grantsAt("a.test", "1", "2", "3"), terms: [aTerm("a.test", fast)] }, NOTHING_SETTLED);
    await send("a.test");
    expect(pacer.collect().returned).toMatchObject([{ number: 1, unstarted: 2 }]);
    await advance(20);
    expect(startedTasks).toEqual(["1", "2"]);
    pacer.add({ grants: grantsAt("a.test", "4"), terms: [aTerm("a.test", { ...fast, number: 2 })] }, NOTHING_SETTLED);
    expect(pacer.takeStranded()).toEqual([]);
    expect(await send("a.test")).toBe(true);
    expect(pacer.waiting()).toBe(2);
  });

  it("gives back the tasks that it could not start within their term", async () => {
    const terms = [aTerm("a.test", { concurrent: 1 })];
    pacer.add({ grants: grantsAt("a.test", "1", "2", "3"), terms }, NOTHING_SETTLED);
    await send("a.test");
    await advance(1955);
    const { returned, late } = pacer.collect();
    expect(late.map(({ taskId }) => taskId)).toEqual(["2", "3"]);
    expect(returned).toMatchObject([{ number: 1 }]);
    expect(pacer.waiting()).toBe(0);
  });

  it("counts tasks as running until they end, and own tasks as own until they are settled", async () => {
    pacer.add({ grants: grantsAt("a.test", "1"), terms: [aTerm("a.test")] }, NOTHING_SETTLED);
    await send("a.test");
    pacer.ended({ taskId: "1", token: 1 });
    expect(pacer.unsettled()).toEqual(new Map([["a.test", 1]]));
    pacer.settling({ taskId: "1", token: 1 });
    expect(pacer.unsettled()).toEqual(new Map([["a.test", 0]]));
  });

  it("applies a crawl-delay to the current term, and asks for a term where there was no rate", async () => {
    pacer.add({ grants: grantsAt("a.test", "1", "2"), terms: [aTerm("a.test")] }, NOTHING_SETTLED);
    await send("a.test");
    pacer.slowDown("a.test", 1000);
    await advance(900);
    expect(pacer.allowance.trySend("a.test")).toBe(false);

    pacer.add({ grants: grantsAt("b.test", "3"), terms: [] }, NOTHING_SETTLED);
    expect(pacer.allowance.trySend("b.test")).toBe(true);
    pacer.slowDown("b.test", 1000);
    next = aTerm("b.test");
    expect(await send("b.test")).toBe(true);
    expect(opened.map(({ site }) => site)).toEqual(["b.test"]);
  });

  it("drops all waiting tasks and terms", async () => {
    pacer.add({ grants: grantsAt("a.test", "1", "2"), terms: [aTerm("a.test")] }, NOTHING_SETTLED);
    const { returned, late } = pacer.drop();
    expect([returned.length, late.map(({ taskId }) => taskId)]).toEqual([1, ["2"]]);
    await advance(5000);
    expect(startedTasks).toEqual(["1"]);
  });
});
