import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Term } from "../../../domain/politeness.ts";
import { NO_RESPONSES } from "../../../domain/throttling.ts";
import { callerClock, createBrokerClock, type RoundTrip } from "./broker-clock.ts";

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
    call(thereMs: number, backMs: number): RoundTrip {
      const sentAt = now;
      now += thereMs;
      const brokerNow = now - aheadMs;
      now += backMs;
      const trip = { sentAt, receivedAt: now, brokerNow };
      time.recordRoundTrip(trip);
      return trip;
    },
    toBroker: (at: number) => at - aheadMs,
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

  it("is measured again after invalidate, and kept until then", () => {
    const { time, call, setClock, errorMs } = setUp(1000);
    call(0.1, 0.1);
    setClock(3); // less than the error of the next call
    time.invalidate();
    expect(time.aheadMs()).toBe(1000);
    call(4, 4);
    expect(errorMs()).toBe(0);
  });

  it("equals the caller's clock in tests that pass their own time", () => {
    const time = callerClock();
    const trip = { sentAt: 0, receivedAt: 5, brokerNow: 1e9 };
    time.recordRoundTrip(trip);
    const term = aTerm(1, 2, 3);
    expect([time.toLocal(7), time.toBroker(7), time.fromNow(7), time.aheadMs()]).toEqual([7, 7, 7, 0]);
    expect(time.toLocalTerm(term, trip)).toEqual(term);
  });
});

/** Times that are exact in binary, so that sums and differences are exact, too. */
const times = fc.integer({ min: 0, max: 40_000 }).map((quarters) => quarters / 4);

describe("a term", () => {
  it("starts no earlier and ends no later than at the broker, however wrong the clock and its measurement", () => {
    const offsets = fc.integer({ min: -1e6, max: 1e6 });
    fc.assert(
      fc.property(offsets, times, times, times, (aheadMs, thereMs, backMs, waitMs) => {
        const { time, call, toBroker } = setUp(aheadMs);
        const trip = call(thereMs, backMs);
        const startsAt = trip.brokerNow + waitMs;
        const [endsAt, arrivalAt] = [startsAt + 2000, startsAt + 100];
        // The measured difference of the clocks must not matter.
        call(0, 5000);

        const local = time.toLocalTerm(aTerm(startsAt, endsAt, arrivalAt), trip);

        expect(toBroker(local.startsAt)).toBe(startsAt + backMs);
        expect(toBroker(local.arrivalAt)).toBe(arrivalAt + backMs);
        expect(toBroker(local.endsAt)).toBe(endsAt - thereMs);
      }),
    );
  });

  it("that is returned has no earlier arrival time at the broker than at the worker", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: -5000, max: 5000 }), times, (...drawn) => {
        const [aheadMs, untilArrivalMs, thereMs] = drawn;
        const { time, call, toBroker } = setUp(aheadMs);
        const { receivedAt: now } = call(3, 3);
        const arrivalAt = now + untilArrivalMs;

        const sent = time.fromNow(arrivalAt);
        const { brokerNow } = call(thereMs, 0);

        expect(brokerNow + sent).toBe(toBroker(arrivalAt) + thereMs);
      }),
    );
  });
});

function aTerm(startsAt: number, endsAt: number, arrivalAt: number): Term {
  return {
    ...{ site: "a.test", number: 1, intervalMs: 100, burst: 1, concurrent: 1, startsAt, endsAt, arrivalAt },
    ...{ slowdown: 1, throttling: NO_RESPONSES },
  };
}
