/**
 * What time it is at the broker, told from its answers. Slots are sold in the broker's time and kept in this process's:
 * every answer carries the broker's clock, and the quickest round trip of the last minute says how the two compare, to
 * within half of that trip. A slot is narrowed by that half on both sides, so that two workers whose comparisons err in
 * opposite ways still keep a full interval between their requests. Of a cluster each node has a clock of its own: every
 * shard is compared with on its own, and compared with well before it grants anything.
 *
 * A slot may be half a millisecond wide, and an answer takes longer than that to arrive and be acted upon: slots are asked
 * for so far ahead as answers have been taking lately.
 */
import type { Slot } from "../../domain/politeness.ts";
import type { Clock } from "../../runtime/clock.ts";

export type BrokerTime = {
  /** A call was sent at `sentAt` and has now been answered at the broker's `brokerNow`. */
  heard(sentAt: number, brokerNow: number): void;
  toHere(at: number): number;
  toBroker(at: number): number;
  slotHere(slot: Slot): Slot;
  /** Whether asking once more would tell hardly more. */
  isSure(): boolean;
  /** Another server may have taken the broker's place: what it answers counts, however long it takes. */
  doubt(): void;
  /** How far the two clocks are apart, this one being ahead when positive. */
  aheadMs(): number;
  /** How long after they were sold slots are in hand, but for a few of them. */
  leadMs(): number;
  /** Slots that were sold at the broker's `brokerNow` are in hand now. */
  sold(brokerNow: number): void;
};

const KEPT_MS = 60_000;
/** Instants of today are told to a quarter of a microsecond; a trip all of which went one way must not look like a move. */
const ROUNDING_MS = 0.01;
/** However unsure the comparison, so much of a slot is left to send in: on a busy machine a fifth was missed nearly always. */
const LEAST_SHARE = 0.5;
/** A worker that is held up for longer has to buy another slot. */
const LEAD_MOST_MS = 500;
/** Today's instants and a lead in quarters of a millisecond add up without rounding, here and in Lua. */
const LEAD_STEP_MS = 0.25;

/** The shortest slots are narrowed by at most so much: a comparison as good as that is good enough. */
const SURE_MS = 0.25;
/** So many trips tell what there is to tell; a busy machine, or one far away, may never have a short one. */
const TRIPS_ENOUGH = 8;

type Sample = { at: number; aheadMs: number; errorMs: number };

/** Where the caller passes its own time, the two are the same. */
export function callerTime(): BrokerTime {
  const same = (at: number) => at;
  return {
    ...{ heard: () => {}, sold: () => {}, doubt: () => {}, toHere: same, toBroker: same, slotHere: (slot) => slot },
    ...{ aheadMs: () => 0, leadMs: () => 0, isSure: () => true },
  };
}

export function createBrokerTime(clock: Pick<Clock, "now">): BrokerTime {
  let best: Sample = { at: 0, aheadMs: 0, errorMs: Number.POSITIVE_INFINITY };
  let next: Sample = best;
  let trips = 0;
  const lead = createLead();

  return {
    leadMs: lead.ms,
    isSure: () => best.errorMs <= SURE_MS || trips >= TRIPS_ENOUGH,
    doubt() {
      trips = 0;
      best = next = { ...best, errorMs: Number.POSITIVE_INFINITY };
    },
    heard(sentAt, brokerNow) {
      trips += 1;
      const at = clock.now();
      const errorMs = (at - sentAt) / 2;
      const sample = { at, aheadMs: (at + sentAt) / 2 - brokerNow, errorMs };
      // A clock that was set has moved further than either sample can err.
      const apartMs = Math.abs(sample.aheadMs - best.aheadMs);
      const hasMoved = apartMs > sample.errorMs + best.errorMs + ROUNDING_MS;
      if (sample.errorMs <= next.errorMs) next = sample;
      if (hasMoved || sample.errorMs <= best.errorMs) best = next = sample;
      else if (at - best.at > KEPT_MS) {
        best = next;
        next = sample;
      }
    },
    sold: (brokerNow) => lead.took(clock.now() - brokerNow - best.aheadMs),
    toHere: (at) => at + best.aheadMs,
    toBroker: (at) => at - best.aheadMs,
    slotHere({ sendAt, sendBy, arrivalAt }) {
      if (sendBy === Number.MAX_SAFE_INTEGER) return { sendAt: sendAt + best.aheadMs, sendBy, arrivalAt };
      const narrowMs = Math.min(best.errorMs, ((sendBy - sendAt) * (1 - LEAST_SHARE)) / 2);
      return { sendAt: sendAt + best.aheadMs + narrowMs, sendBy: sendBy + best.aheadMs - narrowMs, arrivalAt };
    },
    aheadMs: () => best.aheadMs,
  };
}

/**
 * Mean and spread of how long it takes, as TCP keeps them of its trips to know when an answer is overdue (RFC 6298), with
 * half its margin: a missed slot costs one more call, but one sold too far ahead keeps its request waiting.
 */
function createLead(): { took(ms: number): void; ms(): number } {
  let mean = 0;
  let spread = 0;
  return {
    took(ms) {
      const tripMs = Math.min(Math.max(0, ms), LEAD_MOST_MS);
      spread += (Math.abs(tripMs - mean) - spread) / 4;
      mean += (tripMs - mean) / 8;
    },
    ms: () => Math.min(LEAD_MOST_MS, Math.ceil((mean + 2 * spread) / LEAD_STEP_MS) * LEAD_STEP_MS),
  };
}
