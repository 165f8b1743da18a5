import type { Clock } from "../../src/runtime/clock.ts";

/** A clock that moves only when a test moves it. */
export type ManualClock = Clock & {
  /** Advances the time, and wakes every sleeper that is due. */
  advance(ms: number): void;
  /** Advances to a time; a time in the past changes nothing. */
  advanceTo(at: number): void;
  /** The number of sleepers, so that a test can wait until its subject sleeps. */
  sleepers(): number;
};

type Sleeper = { wakeAt: number; wake(): void };

export function createManualClock(startAt: number): ManualClock {
  const asleep = new Set<Sleeper>();
  let now = startAt;

  function advanceTo(at: number): void {
    now = Math.max(now, at);
    for (const sleeper of [...asleep]) if (sleeper.wakeAt <= now) sleeper.wake();
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (ms <= 0 || signal?.aborted) return resolve();
      const sleeper = { wakeAt: now + ms, wake };
      function wake(): void {
        asleep.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      }
      asleep.add(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  return { now: () => now, sleep, advanceTo, advance: (ms) => advanceTo(now + ms), sleepers: () => asleep.size };
}
