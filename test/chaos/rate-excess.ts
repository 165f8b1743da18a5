/**
 * Measures by how much requests exceed a rate, from a log that may be late. A process that waits for a CPU or its disk
 * logs several requests at once, as if they had arrived together. So the process also logs with each request the last
 * time at which its event loop was idle: the request arrived after that time.
 */
import { performance } from "node:perf_hooks";
import type { Arrival } from "../site/origin.ts";

/** A request that arrived after `arrivedAfter`, and at `arrivedAt` at the latest. */
export type TimedArrival = Pick<Arrival, "arrivedAt"> & { arrivedAfter: number };

export type IdleWatch = {
  /** A time before the arrival of a request that is being handled now. */
  lastIdleAt(): number;
  stop(): void;
};

const CHECK_EVERY_MS = 1;
/** Less idle time than this may be a rounding error. */
const IDLE_LEAST_MS = 0.2;

export function watchIdleTime(): IdleWatch {
  let latest = readIdleTime();
  let idleFrom = latest.at;
  const timer = setInterval(() => {
    const next = readIdleTime();
    // If the event loop was idle since the last check, it had read every request that arrived before that check.
    if (next.idleMs - latest.idleMs > IDLE_LEAST_MS) idleFrom = latest.at;
    latest = next;
  }, CHECK_EVERY_MS);
  timer.unref();
  return { lastIdleAt: () => idleFrom, stop: () => clearInterval(timer) };
}

function readIdleTime(): { at: number; idleMs: number } {
  return { at: performance.timeOrigin + performance.now(), idleMs: performance.eventLoopUtilization().idle };
}

/**
 * The tolerated excess is one request. The operating system may suspend a crawler between its last read of the clock
 * and the system call that sends a request; that request is then sent shortly before the next one. No process can
 * prevent that. The crawler does not send a second late request, because the slot of that request has passed.
 */
export function allowedExcessMs(perSecond: number): number {
  return (1.2 / perSecond) * 1000;
}

/**
 * The tolerated excess at 5/s and slower, without kills: the system may suspend a crawler for this long before it
 * sends.
 */
export const SUSPENDED_MS = 100;

/** By how many ms the worst window is too short for its requests, after logging delays are subtracted. */
export function rateExcessMs(arrivals: readonly TimedArrival[], perSecond: number): number {
  return worstExcessMs(arrivals, perSecond, ({ arrivedAfter }) => arrivedAfter);
}

/** The same, computed from the logged times. */
export function loggedExcessMs(arrivals: readonly TimedArrival[], perSecond: number): number {
  return worstExcessMs(arrivals, perSecond, ({ arrivedAt }) => arrivedAt);
}

/**
 * Every window from request i to request j must satisfy `j - i <= rate * (t[j] - t[i])`. The excess of a window is the
 * time by which it is too short. With `lead(k) = k - rate * t[k]`, the worst excess is the largest `lead(j) - lead(i)`
 * with i before j. A window starts at `startOf` its first request.
 */
function worstExcessMs(
  arrivals: readonly TimedArrival[],
  perSecond: number,
  startOf: (arrival: TimedArrival) => number,
): number {
  const sorted = [...arrivals].sort((one, other) => one.arrivedAt - other.arrivedAt);
  const start = sorted[0]?.arrivedAt ?? 0;
  const lead = (index: number, at: number) => index - (perSecond * (at - start)) / 1000;
  let least = Number.POSITIVE_INFINITY;
  let worst = 0;
  for (const [index, arrival] of sorted.entries()) {
    worst = Math.max(worst, lead(index, arrival.arrivedAt) - least);
    least = Math.min(least, lead(index, startOf(arrival)));
  }
  return (worst / perSecond) * 1000;
}
