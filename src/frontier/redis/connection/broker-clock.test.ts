import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callerClock, createBrokerClock } from "./broker-clock.ts";

/** A local clock that is `aheadMs` ahead of the broker's, and calls with a given time for each direction. */
function setUp(aheadMs: number) {
  let now = 1_000_000;
  const time = createBrokerClock({ now: () => now });
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
      time.recordRoundTrip(sentAt, brokerNow);
    },
    grant(backMs: number) {
      const brokerNow = now - aheadMs;
      now += backMs;
      time.recordGrant(brokerNow);
    },
    errorMs: () => Math.abs(time.toLocal(0) - aheadMs),
  };
}

describe("the broker's clock", () => {
  it("is measured by the fastest of several calls", () => {
    const { time, call, errorMs } = setUp(10_000);
    call(50, 1);
    expect(errorMs()).toBeLessThanOrEqual(26);
    call(1, 1);
    call(3, 40);

    expect(errorMs()).toBe(0);
    expect(time.aheadMs()).toBe(10_000);
    expect(time.toBroker(time.toLocal(123))).toBe(123);
  });

  it("has an error of at most half a round trip, however asymmetric", () => {
    const trips = fc.array(
      fc.tuple(fc.double({ min: 0, max: 500, noNaN: true }), fc.double({ min: 0, max: 500, noNaN: true })),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), trips, (aheadMs, calls) => {
        const { call, errorMs } = setUp(aheadMs);
        for (const [there, back] of calls) call(there, back);
        const best = Math.min(...calls.map(([there, back]) => there + back));
        expect(errorMs()).toBeLessThanOrEqual(best / 2 + 0.01);
      }),
    );
  });

  it("follows a clock that was set, as soon as a call can detect it", () => {
    const { call, setClock, errorMs } = setUp(0);
    call(1, 1);
    setClock(-30_000);
    call(20, 5);
    expect(errorMs()).toBeLessThanOrEqual(12.5);
    setClock(3_600_000);
    call(20, 5);
    expect(errorMs()).toBeLessThanOrEqual(12.5);
  });

  it("drops a measurement that is over a minute old, so that clocks may drift", () => {
    const { call, wait, setClock, errorMs } = setUp(0);
    call(1, 1);
    for (let nth = 0; nth < 30; nth++) {
      wait(5000);
      setClock(0.5); // less than the error of any call
      call(10, 10);
    }
    expect(errorMs()).toBeLessThanOrEqual(11 + 0.5 * 25);
  });

  it("reserves slots ahead by the time that most of them take to arrive, in steps of 0.25 ms", () => {
    const { time, call, grant } = setUp(10_000);
    call(1, 1);
    expect(time.leadMs()).toBe(0);
    for (let nth = 0; nth < 50; nth++) grant(2);
    expect(time.leadMs()).toBeGreaterThanOrEqual(2);
    expect(time.leadMs()).toBeLessThan(3);
    for (let nth = 0; nth < 50; nth++) grant(nth % 5 === 0 ? 20 : 1);
    expect(time.leadMs()).toBeGreaterThan(10);
    expect(time.leadMs() % 0.25).toBe(0);
    for (let nth = 0; nth < 10; nth++) grant(1e6);
    expect(time.leadMs()).toBe(500);
  });

  it("narrows a slot by the possible error on both sides, and leaves at least half of it", () => {
    const { time, call } = setUp(1000);
    call(4, 4);
    expect(time.toLocalSlot({ sendAt: 100, sendBy: 125, arrivalAt: 600 })).toEqual({
      sendAt: 1104,
      sendBy: 1121,
      arrivalAt: 600,
    });
    const narrow = time.toLocalSlot({ sendAt: 100, sendBy: 105, arrivalAt: 600 });
    expect(narrow.sendAt).toBeCloseTo(1101.25, 9);
    expect(narrow.sendBy - narrow.sendAt).toBeCloseTo(2.5, 9);
  });

  it("is accurate after a short round trip, or after 16 in a row that are not better", () => {
    const { time, call } = setUp(1000);
    expect(time.isAccurate()).toBe(false);
    call(0.2, 0.2);
    expect(time.isAccurate()).toBe(true);

    const far = setUp(1000);
    for (let nth = 0; nth < 10; nth++) far.call(20, 20);
    far.call(10, 10);
    for (let nth = 0; nth < 15; nth++) far.call(20, 20);
    expect(far.time.isAccurate()).toBe(false);
    far.call(20, 20);
    expect(far.time.isAccurate()).toBe(true);
  });

  it("is measured again after invalidate, and kept until then", () => {
    const { time, call, setClock, errorMs } = setUp(1000);
    call(0.1, 0.1);
    setClock(3); // less than the error of the next call
    time.invalidate();
    expect([time.isAccurate(), time.aheadMs()]).toEqual([false, 1000]);
    call(4, 4);
    expect(errorMs()).toBe(0);
  });

  it("keeps a slot without an end unlimited", () => {
    const { time, call } = setUp(1000);
    call(4, 4);
    const sendBy = Number.MAX_SAFE_INTEGER;
    expect(time.toLocalSlot({ sendAt: 100, sendBy, arrivalAt: 0 })).toEqual({ sendAt: 1100, sendBy, arrivalAt: 0 });
  });

  it("equals the caller's clock in tests that pass their own time", () => {
    const time = callerClock();
    time.recordRoundTrip(0, 1e9);
    const slot = { sendAt: 1, sendBy: 2, arrivalAt: 3 };
    expect([time.toLocal(7), time.toBroker(7), time.toLocalSlot(slot), time.aheadMs()]).toEqual([7, 7, slot, 0]);
  });
});
