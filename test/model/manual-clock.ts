import type { Clock } from "../../src/runtime/clock.ts";

/** A clock that stands still until it is moved by hand. */
export type ManualClock = Clock & {
  /** Moves time on, and wakes every sleeper whose time has come. */
  advance(ms: number): void;
  /** Moves time on to an instant; one that has passed already changes nothing. */
  advanceTo(at: number): void;
  /** How many are asleep: lets a test wait until its subject is. */
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
