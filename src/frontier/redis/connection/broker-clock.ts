/**
 * Converts between the clock of a Redis server and the clock of this process. Every reply contains the broker's time.
 * The fastest round trip of the last minute gives the difference of the two clocks, with an error of at most half of
 * that trip. This is accurate enough for times that users see, and to decide when to call again. Each node of a cluster
 * has its own clock, so every shard has its own BrokerClock.
 *
 * Terms do not depend on the measured difference, because two workers with opposite errors would send at the same time.
 * They are converted by durations. The start of a term is counted from the arrival of the reply, and its end from the
 * sending of the call. So a slow reply makes a worker start later and stop earlier. A returned term contains the
 * duration from now to its arrival time. The broker adds the duration to its own time when the call arrives, so the
 * result is never too early.
 */
import type { Term } from "../../../domain/politeness.ts";
import type { Clock } from "../../../runtime/clock.ts";

/** When a call was sent and when its reply arrived, by the local clock; and the broker's time in the reply. */
export type RoundTrip = { sentAt: number; receivedAt: number; brokerNow: number };

export type BrokerClock = {
  recordRoundTrip(trip: RoundTrip): void;
  toLocal(at: number): number;
  toBroker(at: number): number;
  /** Converts a term from the reply of this round trip. */
  toLocalTerm(term: Term, trip: RoundTrip): Term;
  /** A local time as an argument for scripts, see `given_time` in lua/lib/base.lua. Compute it for every attempt. */
  fromNow(at: number): number;
  /** Call this if another server may have replaced the broker: the next reply is then used, however slow it is. */
  invalidate(): void;
  /** Local time minus the broker's time. */
  aheadMs(): number;
};

const KEPT_MS = 60_000;
/** Current epoch times have a resolution of 0.25 µs. Rounding errors must not be taken for a clock that was set. */
const ROUNDING_MS = 0.01;

type Sample = { at: number; aheadMs: number; errorMs: number };

/** For tests that pass their own time to the broker: the two clocks are the same. */
export function callerClock(): BrokerClock {
  const same = (at: number) => at;
  return {
    ...{ recordRoundTrip: () => {}, invalidate: () => {}, aheadMs: () => 0 },
    ...{ toLocal: same, toBroker: same, fromNow: same, toLocalTerm: (term) => term },
  };
}

export function createBrokerClock(clock: Pick<Clock, "now">): BrokerClock {
  let best: Sample = { at: 0, aheadMs: 0, errorMs: Number.POSITIVE_INFINITY };
  let next: Sample = best;

  return {
    invalidate() {
      best = next = { ...best, errorMs: Number.POSITIVE_INFINITY };
    },
    recordRoundTrip({ sentAt, receivedAt: at, brokerNow }) {
      const errorMs = (at - sentAt) / 2;
      const sample = { at, aheadMs: (at + sentAt) / 2 - brokerNow, errorMs };
      // If the samples differ by more than both errors, one of the clocks was set.
      const apartMs = Math.abs(sample.aheadMs - best.aheadMs);
      const hasMoved = apartMs > sample.errorMs + best.errorMs + ROUNDING_MS;
      if (sample.errorMs <= next.errorMs) next = sample;
      if (hasMoved || sample.errorMs <= best.errorMs) best = next = sample;
      else if (at - best.at > KEPT_MS) {
        best = next;
        next = sample;
      }
    },
    toLocal: (at) => at + best.aheadMs,
    toBroker: (at) => at - best.aheadMs,
    toLocalTerm: (term, { sentAt, receivedAt, brokerNow }) => ({
      ...term,
      startsAt: receivedAt + (term.startsAt - brokerNow),
      arrivalAt: receivedAt + (term.arrivalAt - brokerNow),
      endsAt: sentAt + (term.endsAt - brokerNow),
    }),
    fromNow: (at) => at - clock.now(),
    aheadMs: () => best.aheadMs,
  };
}
