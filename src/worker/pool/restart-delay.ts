/** How long a supervisor waits before it replaces a process that has ended. */

const FIRST_MS = 1_000;
const MOST_MS = 30_000;
/** A process that ended a task, or ran for this long, did not fail at start. */
const LIVED_MS = 10_000;

/** Whether a process did useful work. Then the next one starts at once. */
export function hasLived({ livedMs, tasksEnded }: { livedMs: number; tasksEnded: number }): boolean {
  return tasksEnded > 0 || livedMs >= LIVED_MS;
}

/** The delay after this many consecutive failures at start: 0, 1, 2, 4 … 30 s. */
export function restartDelayMs(diedAtOnce: number): number {
  return diedAtOnce === 0 ? 0 : Math.min(MOST_MS, FIRST_MS * 2 ** (diedAtOnce - 1));
}
