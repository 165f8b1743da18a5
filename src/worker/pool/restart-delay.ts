/** How long a supervisor waits before it replaces a process that has ended. */

const FIRST_MS = 1_000;
const MAX_MS = 30_000;
/** A process that ended a task, or ran for this long, did not fail at start. */
const USEFUL_AFTER_MS = 10_000;

/** Whether a process did useful work. Its replacement then starts without a delay. */
export function wasUseful({ ranMs, tasksEnded }: { ranMs: number; tasksEnded: number }): boolean {
  return tasksEnded > 0 || ranMs >= USEFUL_AFTER_MS;
}

/** The delay after this many consecutive failures at start: 0, 1, 2, 4 … 30 s. */
export function restartDelayMs(failedStarts: number): number {
  return failedStarts === 0 ? 0 : Math.min(MAX_MS, FIRST_MS * 2 ** (failedStarts - 1));
}
