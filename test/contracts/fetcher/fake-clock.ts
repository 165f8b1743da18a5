import type { Clock } from "../../../src/runtime/clock.ts";

export type FakeClock = Clock & {
  advance(ms: number): void;
  /** Resolves with the wake-up time of the first sleeper, as soon as there is one. */
  asleep(): Promise<number>;
};

/** A clock that changes only by `advance`. */
export function createFakeClock(startAt: number): FakeClock {
  let now = startAt;
  const sleepers: { wakeAt: number; wake: () => void }[] = [];
  const watchers: ((wakeAt: number) => void)[] = [];

  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { wakeAt: now + ms, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener("abort", () => resolve(), { once: true });
        for (const notify of watchers.splice(0)) notify(sleeper.wakeAt);
      }),
    advance(ms) {
      now += ms;
      for (const sleeper of sleepers.filter(({ wakeAt }) => wakeAt <= now)) {
        sleepers.splice(sleepers.indexOf(sleeper), 1);
        sleeper.wake();
      }
    },
    asleep: () =>
      new Promise((resolve) => {
        const [first] = sleepers;
        if (first === undefined) watchers.push(resolve);
        else resolve(first.wakeAt);
      }),
  };
}
