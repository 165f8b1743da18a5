/** Workers with different wrong clocks: only the clock of the broker counts (F18). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Slot } from "../../src/domain/politeness.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { aJob, aRequest, settleAll, submit, tasksAt, viewOf } from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { openLossyProxy } from "./lossy-proxy.ts";
import { createStage } from "./stage.ts";

/** The error of the wrong clocks. */
const WRONG_MS = 10_000;
/** More than the delays on a busy machine, and much less than the error of the clocks. */
const NEAR_MS = WRONG_MS / 2;
const real = systemClock();
const startAt = real.now();

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

describe("workers whose clocks are wrong", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it("F18 get slots in their own time that are a full interval apart in real time", async () => {
    const clocks = [wrongClock(WRONG_MS, 2e-4), wrongClock(-WRONG_MS, -2e-4), wrongClock(0, 0)];
    const stage = createStage(server.url);
    const handles = await Promise.all(clocks.map((clock) => stage.open({ clock })));
    const intervalMs = 40;
    const pages = 45;
    await submit(
      handles[0] as (typeof handles)[number],
      aJob({ policy: { intervalMs, burst: 1, perSite: 9 } }),
      tasksAt("a.test", pages),
    );
    const slots: (Pick<Slot, "sendAt" | "sendBy"> & { sentAt: number; by: number })[] = [];
    const over = new AbortController();

    await Promise.all(
      handles.map(async (frontier, by) => {
        const clock = clocks[by] as WrongClock;
        while (slots.length < pages) {
          const { grants, nextDueAt } = await frontier.lease(aRequest({ worker: `w${by}`, max: 1 }));
          for (const { slot } of grants) {
            // A worker sleeps by its own clock.
            await clock.sleep(slot.sendAt - clock.now());
            slots.push({
              sendAt: clock.toReal(slot.sendAt),
              sendBy: clock.toReal(slot.sendBy),
              sentAt: real.now(),
              by,
            });
          }
          if (grants.length > 0) await settleAll(frontier, grants);
          else await frontier.waitForWork(nextDueAt ?? clock.now() + 100, over.signal);
        }
        over.abort();
      }),
    );

    slots.sort((one, other) => one.sendAt - other.sendAt);
    const gaps = slots.slice(1).map(({ sendAt }, nth) => sendAt - (slots[nth]?.sendBy ?? 0));
    const changes = slots.filter(({ by }, nth) => nth > 0 && by !== slots[nth - 1]?.by).length;
    console.info(`smallest gap ${Math.min(...gaps).toFixed(3)} ms of ${intervalMs}, ${changes} changes of worker`);
    expect(changes).toBeGreaterThan(0);
    // Between two comparisons with the broker's clock, the clocks of two workers may drift apart by this much.
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(intervalMs - 0.5);
    // No request is early or late by the error of its worker's clock.
    for (const { sendAt, sentAt } of slots) expect(Math.abs(sentAt - sendAt)).toBeLessThan(NEAR_MS);
    const views = await Promise.all(handles.map((frontier) => viewOf(frontier)));
    for (const [nth, { createdAt }] of views.entries()) {
      expect(Math.abs((clocks[nth] as WrongClock).toReal(createdAt) - (views[2]?.createdAt ?? 0))).toBeLessThan(
        NEAR_MS,
      );
    }
  });

  it("F2 get slots that are still in the future when the answer arrives, however long it takes", async () => {
    const pages = 40;
    const policy = { intervalMs: 20, burst: 1, perSite: 9 };
    const slow = await openLossyProxy(server.port, { delayMs: 30 });
    const frontier = await createStage(slow.url).open();
    await submit(frontier, aJob({ policy }), tasksAt("a.test", pages));
    // Without a limit, a slot would have no end.
    await frontier.setSitePolicy("b.test", policy);
    // The frontier measures how long replies take.
    for (let nth = 0; nth < 10; nth++) await frontier.reserveSlot("b.test");
    let [inTime, reserved, reservedInTime] = [0, 0, 0];

    for (let done = 0; done < pages; ) {
      const { grants, nextDueAt } = await frontier.lease(aRequest({ max: 1 }));
      const arrivedAt = real.now();
      inTime += grants.filter(({ slot }) => slot.sendBy >= arrivedAt).length;
      done += grants.length;
      if (grants.length > 0) await settleAll(frontier, grants);
      else await frontier.waitForWork(nextDueAt ?? arrivedAt + 100, new AbortController().signal);
      const slot = await frontier.reserveSlot("b.test");
      reserved += 1;
      reservedInTime += slot.sendBy >= real.now() ? 1 : 0;
    }

    console.info(
      `${inTime} of ${pages} granted slots and ${reservedInTime} of ${reserved} reserved slots were in the future`,
    );
    expect(inTime).toBeGreaterThan(pages / 2);
    expect(reservedInTime).toBeGreaterThan(reserved / 2);
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
