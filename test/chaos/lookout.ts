/**
 * Judges a rate by a log that may be late. A process that waits for a CPU or its disk logs several requests at once, as if
 * they had arrived together. So it also records with each request when its event loop was last idle: the request arrived
 * after that time.
 */
import { performance } from "node:perf_hooks";
import type { Arrival } from "../site/origin.ts";

/** A request that arrived after `seenFrom` and not after `arrivedAt`. */
export type Sighting = Pick<Arrival, "arrivedAt"> & { seenFrom: number };

export type Lookout = {
  /** A time before the arrival of a request that is being handled now. */
  seenFrom(): number;
  stop(): void;
};

const CHECK_EVERY_MS = 1;
/** Less idle time than this may be a rounding error. */
const IDLE_LEAST_MS = 0.2;

export function keepLookout(): Lookout {
  let latest = look();
  let idleFrom = latest.at;
  const timer = setInterval(() => {
    const next = look();
    // The event loop was idle since the last check: it had read everything that had arrived before.
    if (next.idleMs - latest.idleMs > IDLE_LEAST_MS) idleFrom = latest.at;
    latest = next;
  }, CHECK_EVERY_MS);
  timer.unref();
  return { seenFrom: () => idleFrom, stop: () => clearInterval(timer) };
}

function look(): { at: number; idleMs: number } {
  return { at: performance.timeOrigin + performance.now(), idleMs: performance.eventLoopUtilization().idle };
}

/**
 * The tolerated excess: one request. The system may suspend a crawler between its last read of the clock and the system call
 * that sends; that request then leaves close to the next one. No process can prevent that. It would not send a second one,
 * because the slot of that request has passed.
 */
export function allowedExcessMs(perSecond: number): number {
  return (1.2 / perSecond) * 1000;
}

/** The tolerated excess at 5/s and slower without kills: the system may suspend a crawler for this long before it sends. */
export const SUSPENDED_MS = 100;

/** By how many ms the fullest window is too short for its requests, without what a late log explains. */
export function rateExcessMs(sightings: readonly Sighting[], perSecond: number): number {
  return worstExcessMs(sightings, perSecond, ({ seenFrom }) => seenFrom);
}

/** The same, with the times as logged. */
export function loggedExcessMs(sightings: readonly Sighting[], perSecond: number): number {
  return worstExcessMs(sightings, perSecond, ({ arrivedAt }) => arrivedAt);
}

/**
 * The rule for every window from request i to request j: `j - i <= rate * (t[j] - t[i])`. The excess of a window is the
 * length that it lacks. With `lead(k) = k - rate * t[k]`, the worst excess is the largest `lead(j) - lead(i)` with i before
 * j. A window begins as early as `from` its first request.
 */
function worstExcessMs(
  sightings: readonly Sighting[],
  perSecond: number,
  from: (sighting: Sighting) => number,
): number {
  const sorted = [...sightings].sort((one, other) => one.arrivedAt - other.arrivedAt);
  const start = sorted[0]?.arrivedAt ?? 0;
  const lead = (index: number, at: number) => index - (perSecond * (at - start)) / 1000;
  let least = Number.POSITIVE_INFINITY;
  let worst = 0;
  for (const [index, sighting] of sorted.entries()) {
    worst = Math.max(worst, lead(index, sighting.arrivedAt) - least);
    least = Math.min(least, lead(index, from(sighting)));
  }
  return (worst / perSecond) * 1000;
}
