import { performance } from "node:perf_hooks";

/** Time as Trawl sees it. Instants are epoch milliseconds with fractions, so that a rate of 1,000/s can be spaced. */
export type Clock = {
  now(): number;
  /** Resolves after `ms`, or early when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The machine's clock: monotonic within the process, and in step with every other process here. */
export function systemClock(): Clock {
  return {
    now: () => performance.timeOrigin + performance.now(),
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
