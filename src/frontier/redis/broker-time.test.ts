import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callerTime, createBrokerTime } from "./broker-time.ts";

/** A clock that is `aheadMs` before the broker's, and what calls that take so long on each way tell. */
function scene(aheadMs: number) {
  let now = 1_000_000;
  const time = createBrokerTime({ now: () => now });
  return {
    time,
    wait: (ms: number) => {
      now += ms;
    },
    setClock: (byMs: number) => {
      now += byMs;
      aheadMs += byMs;
    },
    call(thereMs: number, backMs: number) {
      const sentAt = now;
      now += thereMs;
      const brokerNow = now - aheadMs;
      now += backMs;
      time.heard(sentAt, brokerNow);
    },
    sell(backMs: number) {
      const brokerNow = now - aheadMs;
      now += backMs;
      time.sold(brokerNow);
    },
    errorMs: () => Math.abs(time.toHere(0) - aheadMs),
  };
}

describe("the broker's time", () => {
  it("is told from the quickest of several calls", () => {
    const { time, call, errorMs } = scene(10_000);
    call(50, 1);
    expect(errorMs()).toBeLessThanOrEqual(26);
    call(1, 1);
    call(3, 40);

    expect(errorMs()).toBe(0);
    expect(time.aheadMs()).toBe(10_000);
    expect(time.toBroker(time.toHere(123))).toBe(123);
  });

  it("errs by no more than half a round trip, however lopsided", () => {
    const trips = fc.array(
      fc.tuple(fc.double({ min: 0, max: 500, noNaN: true }), fc.double({ min: 0, max: 500, noNaN: true })),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), trips, (aheadMs, calls) => {
        const { call, errorMs } = scene(aheadMs);
        for (const [there, back] of calls) call(there, back);
        const best = Math.min(...calls.map(([there, back]) => there + back));
        expect(errorMs()).toBeLessThanOrEqual(best / 2 + 0.01);
      }),
    );
  });

  it("follows a clock that is set, at once, if the next call can tell", () => {
    const { call, setClock, errorMs } = scene(0);
    call(1, 1);
    setClock(-30_000);
    call(20, 5);
    expect(errorMs()).toBeLessThanOrEqual(12.5);
    setClock(3_600_000);
    call(20, 5);
    expect(errorMs()).toBeLessThanOrEqual(12.5);
  });

  it("forgets a comparison that is over a minute old, so that clocks may drift", () => {
    const { call, wait, setClock, errorMs } = scene(0);
    call(1, 1);
    for (let nth = 0; nth < 30; nth++) {
      wait(5000);
      setClock(0.5); // less than any call can tell apart from its own trip
      call(10, 10);
    }
    expect(errorMs()).toBeLessThanOrEqual(11 + 0.5 * 25);
  });

  it("is asked for slots as far ahead as they take to be in hand, most of them, in quarters of a millisecond", () => {
    const { time, call, sell } = scene(10_000);
    call(1, 1);
    expect(time.leadMs()).toBe(0);
    for (let nth = 0; nth < 50; nth++) sell(2);
    expect(time.leadMs()).toBeGreaterThanOrEqual(2);
    expect(time.leadMs()).toBeLessThan(3);
    for (let nth = 0; nth < 50; nth++) sell(nth % 5 === 0 ? 20 : 1);
    expect(time.leadMs()).toBeGreaterThan(10);
    expect(time.leadMs() % 0.25).toBe(0);
    for (let nth = 0; nth < 10; nth++) sell(1e6);
    expect(time.leadMs()).toBe(500);
  });

  it("narrows a slot by what the comparison may err, on both sides, and leaves some of it", () => {
    const { time, call } = scene(1000);
    call(4, 4);
    expect(time.slotHere({ sendAt: 100, sendBy: 125, arrivalAt: 600 })).toEqual({
      sendAt: 1104,
      sendBy: 1121,
      arrivalAt: 600,
    });
    const narrow = time.slotHere({ sendAt: 100, sendBy: 105, arrivalAt: 600 });
    expect(narrow.sendAt).toBeCloseTo(1101.25, 9);
    expect(narrow.sendBy - narrow.sendAt).toBeCloseTo(2.5, 9);
  });

  it("is sure after a short trip, or after so many that no shorter one is to be had", () => {
    const { time, call } = scene(1000);
    expect(time.isSure()).toBe(false);
    call(0.2, 0.2);
    expect(time.isSure()).toBe(true);

    const far = scene(1000);
    for (let nth = 0; nth < 7; nth++) far.call(20, 20);
    expect(far.time.isSure()).toBe(false);
    far.call(20, 20);
    expect(far.time.isSure()).toBe(true);
  });

  it("is compared anew where another server may have taken the broker's place, and kept until then", () => {
    const { time, call, setClock, errorMs } = scene(1000);
    call(0.1, 0.1);
    setClock(3); // less than the next call could tell apart from its own trip
    time.doubt();
    expect([time.isSure(), time.aheadMs()]).toEqual([false, 1000]);
    call(4, 4);
    expect(errorMs()).toBe(0);
  });

  it("leaves a slot without an end without one", () => {
    const { time, call } = scene(1000);
    call(4, 4);
    const sendBy = Number.MAX_SAFE_INTEGER;
    expect(time.slotHere({ sendAt: 100, sendBy, arrivalAt: 0 })).toEqual({ sendAt: 1100, sendBy, arrivalAt: 0 });
  });

  it("is the caller's where the caller passes it", () => {
    const time = callerTime();
    time.heard(0, 1e9);
    const slot = { sendAt: 1, sendBy: 2, arrivalAt: 3 };
    expect([time.toHere(7), time.toBroker(7), time.slotHere(slot), time.aheadMs()]).toEqual([7, 7, slot, 0]);
  });
});
