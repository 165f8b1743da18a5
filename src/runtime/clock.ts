import { performance } from "node:perf_hooks";

/** Time as Trawl sees it. Instants are epoch milliseconds with fractions, so that a rate of 1,000/s can be spaced. */
export type Clock = {
  now(): number;
  /** Resolves after `ms`, or early when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** Further ahead than this, the wall clock has been set back. */
const DRIFT_MS = 20;
/** What the wall clock shows in whole milliseconds goes on to the next one within this. */
const TICK_MS = 1;

/**
 * The machine's clock with fractions: never goes back within the process, and follows the wall clock, which a sleeping
 * laptop or an administrator moves, so that it agrees with every other process here.
 *
 * `performance.timeOrigin` would not do: Node reads it in two steps, and a process that was held up between them is late
 * by that for good (of 60 started together on two cores, the worst by 4.7 ms).
 */
export function systemClock(): Clock {
  let origin = tickedOrigin();
  let latest = 0;
  return {
    now() {
      const shown = shownOrigin();
      // The wall clock shows its last tick: of what it has ever shown, the most is nearest to what it is.
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

/** When this process's own clock was at 0, by what the wall clock shows: at most a tick too early, never too late. */
function shownOrigin(): number {
  return Date.now() - performance.now();
}

/** The same to some microseconds, once the wall clock has been seen to tick. */
function tickedOrigin(): number {
  const until = performance.now() + TICK_MS;
  let origin = shownOrigin();
  while (performance.now() < until) origin = Math.max(origin, shownOrigin());
  return origin;
}
