/** Workers with different wrong clocks: only the clock of the broker counts (F18). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SitePolicy } from "../../src/domain/politeness.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import { aJob, submit, tasksAt, viewOf } from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { openLossyProxy } from "./lossy-proxy.ts";
import { workOnce } from "./paced-worker.ts";
import { createStage } from "./stage.ts";

/** The error of the wrong clocks. */
const WRONG_MS = 10_000;
/** More than the delays on a busy machine, and much less than the error of the clocks. */
const NEAR_MS = WRONG_MS / 2;
/** In a term of two seconds, the fastest clock gains this much. */
const DRIFT_MS = 0.5;
const POLICY: SitePolicy = { intervalMs: 40, burst: 1, perSite: 9 };
const PAGES = 45;
const real = systemClock();
const startAt = real.now();

type Send = { sentAt: number; by: number };

type WrongClock = Clock & { toReal(at: number): number };

/** A clock that is ahead by `aheadMs` at the start, and faster than real time by the fraction `drift`. */
function wrongClock(aheadMs: number, drift: number): WrongClock {
  const wrong = (at: number) => at + aheadMs + (at - startAt) * drift;
  return {
    now: () => wrong(real.now()),
    sleep: (ms, signal) => real.sleep(ms / (1 + drift), signal),
    toReal: (at) => (at - aheadMs + startAt * drift) / (1 + drift),
  };
}

/** Workers with these clocks share one site. Returns when their requests left, in real time. */
async function sendAll(handles: readonly AnyFrontier[], clocks: readonly Clock[]): Promise<Send[]> {
  const [first] = handles as [AnyFrontier];
  await submit(first, aJob({ policy: POLICY }), tasksAt("a.test", PAGES));
  const sends: Send[] = [];
  const over = new AbortController();

  async function work(frontier: AnyFrontier, by: number): Promise<void> {
    const clock = clocks[by] as Clock;
    const onSend = () => void sends.push({ sentAt: real.now(), by });
    while (sends.length < PAGES) {
      const { grants, nextDueAt } = await workOnce(frontier, { worker: `w${by}`, clock, max: 3, requestMs: 0, onSend });
      // After its term, a worker leaves the site to the others.
      if (grants.length > 0) await clock.sleep(2 * POLICY.intervalMs);
      else await frontier.waitForWork(nextDueAt ?? clock.now() + 100, over.signal);
    }
    over.abort();
  }

  await Promise.all(handles.map(work));
  return sends;
}

function expectSpaced(sends: readonly Send[]): void {
  const gaps = sends.slice(1).map(({ sentAt }, nth) => sentAt - (sends[nth]?.sentAt ?? 0));
  const changes = sends.filter(({ by }, nth) => nth > 0 && by !== sends[nth - 1]?.by).length;
  console.info(`smallest gap ${Math.min(...gaps).toFixed(3)} ms of ${POLICY.intervalMs}, ${changes} changes of worker`);
  expect(sends).toHaveLength(PAGES);
  expect(changes).toBeGreaterThan(0);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(POLICY.intervalMs - DRIFT_MS);
}

describe("workers whose clocks are wrong", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it("F18 keep the rate of a site in real time, though each paces by its own clock", async () => {
    const clocks = [wrongClock(WRONG_MS, 2e-4), wrongClock(-WRONG_MS, -2e-4), wrongClock(0, 0)];
    const stage = createStage(server.url);
    const handles = await Promise.all(clocks.map((clock) => stage.open({ clock })));
    const startedAt = real.now();

    const sends = await sendAll(handles, clocks);

    // No request is late by the error of its worker's clock.
    expect(real.now() - startedAt).toBeLessThan(NEAR_MS + PAGES * POLICY.intervalMs);
    expectSpaced(sends);
    const views = await Promise.all(handles.map((frontier) => viewOf(frontier)));
    for (const [nth, { createdAt }] of views.entries()) {
      expect(Math.abs((clocks[nth] as WrongClock).toReal(createdAt) - (views[2]?.createdAt ?? 0))).toBeLessThan(
        NEAR_MS,
      );
    }
  });

  it("F18 keep the rate of a site if the replies to one of them are slow", async () => {
    const slow = await openLossyProxy(server.port, { delayMs: 70 });
    const stage = createStage(server.url);
    const clocks = [wrongClock(0, 0), wrongClock(-WRONG_MS, 0)];
    const handles = await Promise.all(clocks.map((clock, nth) => stage.open({ clock, ...(nth === 0 ? slow : {}) })));

    expectSpaced(await sendAll(handles, clocks));
  });

  it("F18 store deadlines and robots.txt with the right times", async () => {
    const stage = createStage(server.url);
    const clock = wrongClock(WRONG_MS, 0);
    const ahead = await stage.open({ clock });
    const right = await stage.open();
    const fetchedAt = clock.now();
    await ahead.keepRobots("a.test", { kind: "absent", text: "", fetchedAt, freshUntil: fetchedAt + 60_000 }, 0);
    await submit(ahead, aJob({ limits: { deadlineAt: clock.now() + NEAR_MS } }), tasksAt("a.test", 1));

    const robots = await right.findRobots("a.test");
    expect(Math.abs((robots?.freshUntil ?? 0) - (real.now() + 60_000))).toBeLessThan(NEAR_MS);
    // By the clock that is ahead, the deadline would have passed.
    await right.reap(10);
    expect((await viewOf(right)).counts.queued).toBe(1);
    const [finding] = (await ahead.examine()).filter(({ check }) => check === "broker clock");
    expect(finding).toMatchObject({ verdict: "warning", message: expect.stringMatching(/ahead of the broker/) });
  });
});
