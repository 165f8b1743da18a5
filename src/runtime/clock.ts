import { performance } from "node:perf_hooks";

/**
 * Time source of all components. Instants are epoch milliseconds with fractions, so that 1,000 requests per second can
 * be spaced.
 */
export type Clock = {
  now(): number;
  /** Resolves after `ms`, or early when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** If this clock is ahead of the wall clock by more than this, the wall clock was set back. */
const DRIFT_MS = 20;
/** Resolution of the wall clock. */
const TICK_MS = 1;

/**
 * The system clock with fractions. It never goes back within a process. It follows the wall clock, also after a suspend
 * or a change by an administrator, so all processes of a machine agree.
 *
 * `performance.timeOrigin` is not accurate enough. Node reads it in two steps, and a delay between the steps becomes a
 * permanent error. In 60 processes started together on two cores, the largest error was 4.7 ms.
 */
export function systemClock(): Clock {
  let origin = tickedOrigin();
  let latest = 0;
  return {
    now() {
      const measured = measuredOrigin();
      // The wall clock is truncated to its tick, so the largest measured origin is the most accurate.
      if (measured > origin || origin - measured > DRIFT_MS + TICK_MS) origin = measured;
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

/** The wall clock time at which `performance.now()` was 0: at most one tick too early, never too late. */
function measuredOrigin(): number {
  return Date.now() - performance.now();
}

/** Like `measuredOrigin`, but accurate to a few microseconds. The call takes one tick of the wall clock. */
function tickedOrigin(): number {
  const until = performance.now() + TICK_MS;
  let origin = measuredOrigin();
  while (performance.now() < until) origin = Math.max(origin, measuredOrigin());
  return origin;
}
