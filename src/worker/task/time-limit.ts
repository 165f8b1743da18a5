/** The time limit of a task, from lease to result. */
import { formatDuration } from "../../domain/duration.ts";
import { withTimeout } from "../../runtime/with-timeout.ts";

const NAME = "TimeLimit";

/** Runs a task and aborts it after `limitMs`. Infinity means no limit. */
export function withinTimeLimit<T>(
  limitMs: number,
  abort: AbortController,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withTimeout({ limitMs, abort, late: () => overTime(limitMs) }, run);
}

/** Whether the signal was aborted by the time limit, and not for another reason. */
export function isOverTime({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === NAME;
}

function overTime(limitMs: number): Error {
  return Object.assign(new Error(`the task took longer than its limit of ${formatDuration(limitMs)}`), { name: NAME });
}
