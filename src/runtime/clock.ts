import { performance } from "node:perf_hooks";

/** The clock of Trawl. Instants are epoch milliseconds with fractions, so that 1,000 requests per second can be spaced. */
export type Clock = {
  now(): number;
  /** Resolves after `ms`, or early when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** If the clock is further ahead than this, the wall clock was set back. */
const DRIFT_MS = 20;
/** Resolution of the wall clock. */
const TICK_MS = 1;

/**
 * The system clock with fractions. It never goes back within a process. It follows the wall clock, which suspend or an
 * administrator may move, so all processes of a machine agree.
 *
 * `performance.timeOrigin` is not accurate enough: Node reads it in two steps, and a process that was delayed between them
 * stays off by that delay (of 60 processes started together on two cores, the worst by 4.7 ms).
 */
export function systemClock(): Clock {
  let origin = tickedOrigin();
  let latest = 0;
  return {
    now() {
      const shown = shownOrigin();
      // The wall clock is truncated to its tick, so the largest origin seen is the most accurate.
      if (shown > origin || origin - shown > DRIFT_MS + TICK_MS) origin = shown;
      latest = Math.max(latest, origin + performance.now());
      return latest;
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const timer = setTimeout(wake, Math.max(0, ms));
        function wake(): void {
          clearTimeout(timer);
          signal?.removeEventListener("abort", wake);
          resolve();
        }
        signal?.addEventListener("abort", wake, { once: true });
      }),
  };
}

/** The zero of `performance.now()` by the wall clock: at most one tick too early, never too late. */
function shownOrigin(): number {
  return Date.now() - performance.now();
}

/** The same, accurate to some microseconds, measured over one tick of the wall clock. */
function tickedOrigin(): number {
  const until = performance.now() + TICK_MS;
  let origin = shownOrigin();
  while (performance.now() < until) origin = Math.max(origin, shownOrigin());
  return origin;
}
