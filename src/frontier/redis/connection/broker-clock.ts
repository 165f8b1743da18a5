/**
 * Converts between the clock of a Redis server and the clock of this process. Slots are granted in the broker's time
 * and used in this process's time. Every reply contains the broker's time. The fastest round trip of the last minute
 * gives the difference of the two clocks, with an error of at most half of that trip. A slot is narrowed by that error
 * on both sides, so two workers whose errors are opposite still keep a full interval between their requests. Each node
 * of a cluster has its own clock, so every shard has its own BrokerClock. The difference must be accurate before a
 * shard grants slots.
 *
 * A slot may be half a millisecond wide, and a reply takes longer than that to arrive. So slots are reserved ahead, by
 * about the time that recent replies took.
 */
import type { Slot } from "../../../domain/politeness.ts";
import type { Clock } from "../../../runtime/clock.ts";

export type BrokerClock = {
  /** A call was sent at `sentAt` (local), and its reply, with the broker's time `brokerNow`, has just arrived. */
  recordRoundTrip(sentAt: number, brokerNow: number): void;
  toLocal(at: number): number;
  toBroker(at: number): number;
  toLocalSlot(slot: Slot): Slot;
  /** Whether a further measurement would hardly improve the result. */
  isAccurate(): boolean;
  /** Another server may have replaced the broker: the next reply counts, however slow it is. */
  invalidate(): void;
  /** Local time minus the broker's time. */
  aheadMs(): number;
  /** How far ahead to reserve slots, so that nearly all arrive in time. */
  leadMs(): number;
  /** Slots that the broker granted at `brokerNow` have just arrived. */
  recordGrant(brokerNow: number): void;
};

const KEPT_MS = 60_000;
/** Current epoch times have a resolution of 0.25 µs. Rounding errors must not be taken for a clock that was set. */
const ROUNDING_MS = 0.01;
/** At least this share of a slot remains usable. With a fifth, a busy machine missed nearly all slots. */
const MIN_SLOT_SHARE = 0.5;
/** A worker whose replies take longer must reserve another slot. */
const MAX_LEAD_MS = 500;
/** A current epoch time plus a multiple of 0.25 ms is exact in a double, here and in Lua. */
const LEAD_STEP_MS = 0.25;

/** The shortest slots are narrowed by at most this much, so a smaller error would not help. */
const ACCURATE_MS = 0.25;
/**
 * If this many round trips in a row do not reduce the error by a tenth, the result counts as accurate: a distant
 * machine never has a short round trip. On a busy machine, a fixed number of trips in total was not enough: two
 * processes had opposite errors of 1.5 ms, and sent requests 29.1 ms apart at an interval of 30 ms.
 */
const ENOUGH_TRIPS = 16;

type Sample = { at: number; aheadMs: number; errorMs: number };

/** For tests that pass their own time to the broker: the two clocks are the same. */
export function callerClock(): BrokerClock {
  const same = (at: number) => at;
  return {
    ...{ recordRoundTrip: () => {}, recordGrant: () => {}, invalidate: () => {} },
    ...{ toLocal: same, toBroker: same, toLocalSlot: (slot) => slot },
    ...{ aheadMs: () => 0, leadMs: () => 0, isAccurate: () => true },
  };
}

export function createBrokerClock(clock: Pick<Clock, "now">): BrokerClock {
  let best: Sample = { at: 0, aheadMs: 0, errorMs: Number.POSITIVE_INFINITY };
  let next: Sample = best;
  let tripsSinceBest = 0;
  const lead = createLead();

  return {
    leadMs: lead.ms,
    isAccurate: () => best.errorMs <= ACCURATE_MS || tripsSinceBest >= ENOUGH_TRIPS,
    invalidate() {
      tripsSinceBest = 0;
      best = next = { ...best, errorMs: Number.POSITIVE_INFINITY };
    },
    recordRoundTrip(sentAt, brokerNow) {
      const at = clock.now();
      const errorMs = (at - sentAt) / 2;
      const sample = { at, aheadMs: (at + sentAt) / 2 - brokerNow, errorMs };
      // If the samples differ by more than both errors, one of the clocks was set.
      const apartMs = Math.abs(sample.aheadMs - best.aheadMs);
      const hasMoved = apartMs > sample.errorMs + best.errorMs + ROUNDING_MS;
      if (sample.errorMs <= next.errorMs) next = sample;
      tripsSinceBest = hasMoved || sample.errorMs < 0.9 * best.errorMs ? 0 : tripsSinceBest + 1;
      if (hasMoved || sample.errorMs <= best.errorMs) best = next = sample;
      else if (at - best.at > KEPT_MS) {
        best = next;
        next = sample;
      }
    },
    recordGrant: (brokerNow) => lead.record(clock.now() - brokerNow - best.aheadMs),
    toLocal: (at) => at + best.aheadMs,
    toBroker: (at) => at - best.aheadMs,
    toLocalSlot({ sendAt, sendBy, arrivalAt }) {
      if (sendBy === Number.MAX_SAFE_INTEGER) return { sendAt: sendAt + best.aheadMs, sendBy, arrivalAt };
      const narrowMs = Math.min(best.errorMs, ((sendBy - sendAt) * (1 - MIN_SLOT_SHARE)) / 2);
      return { sendAt: sendAt + best.aheadMs + narrowMs, sendBy: sendBy + best.aheadMs - narrowMs, arrivalAt };
    },
    aheadMs: () => best.aheadMs,
  };
}

/**
 * Smoothed mean and deviation of the time that grants take to arrive, as TCP computes its retransmission timeout (RFC
 * 6298), but with half its margin: a missed slot costs one more call, while a slot too far ahead delays its request.
 */
function createLead(): { record(ms: number): void; ms(): number } {
  let mean = 0;
  let deviation = 0;
  return {
    record(ms) {
      const tripMs = Math.min(Math.max(0, ms), MAX_LEAD_MS);
      deviation += (Math.abs(tripMs - mean) - deviation) / 4;
      mean += (tripMs - mean) / 8;
    },
    ms: () => Math.min(MAX_LEAD_MS, Math.ceil((mean + 2 * deviation) / LEAD_STEP_MS) * LEAD_STEP_MS),
  };
}
