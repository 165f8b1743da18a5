/** How long a supervisor waits before it starts a process in the place of one that has ended. */

const FIRST_MS = 1_000;
const MOST_MS = 30_000;
/** Whoever has ended a task, or run for so long, has not died at once. */
const LIVED_MS = 10_000;

/** Whether a process got as far as to be of use: then the next one need not wait. */
export function hasLived({ livedMs, tasksEnded }: { livedMs: number; tasksEnded: number }): boolean {
  return tasksEnded > 0 || livedMs >= LIVED_MS;
}

/** After so many in a row that died at once: 0, 1, 2, 4 … 30 s. */
export function restartDelayMs(diedAtOnce: number): number {
  return diedAtOnce === 0 ? 0 : Math.min(MOST_MS, FIRST_MS * 2 ** (diedAtOnce - 1));
}
