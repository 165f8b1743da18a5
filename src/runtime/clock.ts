import { performance } from "node:perf_hooks";

/** Time as Trawl sees it. Instants are epoch milliseconds with fractions, so that a rate of 1,000/s can be spaced. */
export type Clock = {
  now(): number;
  /** Resolves after `ms`, or early when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** Further off than this, the wall clock has been moved, or the machine has slept. */
const DRIFT_MS = 20;

/**
 * The machine's clock with fractions: never goes back within the process, and follows the wall clock, which a sleeping
 * laptop or an administrator moves, so that it agrees with every other process here.
 */
export function systemClock(): Clock {
  let origin = performance.timeOrigin;
  let latest = 0;
  return {
    now() {
      const wall = Date.now();
      if (Math.abs(origin + performance.now() - wall) > DRIFT_MS) origin = wall - performance.now();
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
