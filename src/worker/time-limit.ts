/** The time a task may take from lease to result. */
import { formatDuration } from "../domain/duration.ts";
import { withDeadline } from "../runtime/with-deadline.ts";

const NAME = "TimeLimit";

/** Runs a task and aborts it when it has taken `limitMs`; Infinity is no limit. */
export function withinTimeLimit<T>(
  limitMs: number,
  abort: AbortController,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withDeadline({ limitMs, abort, late: () => overTime(limitMs) }, run);
}

/** Whether a task was told to end because its time is over, and for no other reason. */
export function isOverTime({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === NAME;
}

function overTime(limitMs: number): Error {
  return Object.assign(new Error(`the task took longer than its limit of ${formatDuration(limitMs)}`), { name: NAME });
}
