/**
 * Judges a rate from a log whose writer may look late. A log says when its writer looked: a process that waits for a
 * processor, or for its disk, looks late, and then at several requests in a row, which seem to have come together. So the
 * writer also notes with each request when it last had nothing to do: whatever it looks at later came after that.
 */
import { performance } from "node:perf_hooks";
import type { Arrival } from "../site/origin.ts";

/** A request that came after `seenFrom`, and not after `arrivedAt`. */
export type Sighting = Pick<Arrival, "arrivedAt"> & { seenFrom: number };

export type Lookout = {
  /** For a request that is looked at now: a time at which it was not there yet. */
  seenFrom(): number;
  stop(): void;
};

const LOOK_EVERY_MS = 1;
/** Waiting for less than this may have been no waiting at all. */
const IDLE_LEAST_MS = 0.2;

export function keepLookout(): Lookout {
  let latest = look();
  let idleFrom = latest.at;
  const timer = setInterval(() => {
    const next = look();
    // The event loop waited since the last look: what it had to read then, it has read.
    if (next.idleMs - latest.idleMs > IDLE_LEAST_MS) idleFrom = latest.at;
    latest = next;
  }, LOOK_EVERY_MS);
  timer.unref();
  return { seenFrom: () => idleFrom, stop: () => clearInterval(timer) };
}

function look(): { at: number; idleMs: number } {
  return { at: performance.timeOrigin + performance.now(), idleMs: performance.eventLoopUtilization().idle };
}

/**
 * What is allowed of an excess: one request. Between a crawler's last look at the clock and the system call that sends,
 * the system may give the processor to others, and that one request then leaves close to the next. Nothing in a process
 * can prevent it; a second one it would not send, for by then that one's slot has passed.
 */
export function allowedExcessMs(perSecond: number): number {
  return (1.2 / perSecond) * 1000;
}

/** What no lateness of the log explains: by how much the fullest window is too short for its requests, in ms. */
export function rateExcessMs(sightings: readonly Sighting[], perSecond: number): number {
  return worstExcessMs(sightings, perSecond, ({ seenFrom }) => seenFrom);
}

/** The same, taking the log at its word. */
export function loggedExcessMs(sightings: readonly Sighting[], perSecond: number): number {
  return worstExcessMs(sightings, perSecond, ({ arrivedAt }) => arrivedAt);
}

/**
 * The rule, over every window from request i to request j: `j - i <= rate * (t[j] - t[i])`. What a window lacks in length
 * is its excess. With `lead(k) = k - rate * t[k]` the worst is the largest `lead(j) - lead(i)`, i before j; a window is
 * taken to begin as early as `from` its first request.
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
