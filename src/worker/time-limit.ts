/** The time a task may take from lease to result. */
import { formatDuration } from "../domain/duration.ts";

const NAME = "TimeLimit";

/**
 * Runs a task and aborts it when it has taken `limitMs`; Infinity is no limit. Whoever runs it decides what becomes of
 * it then: nothing is left behind here.
 */
export async function withinTimeLimit<T>(
  limitMs: number,
  abort: AbortController,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (limitMs === Number.POSITIVE_INFINITY) return run(abort.signal);
  const timer = setTimeout(() => abort.abort(overTime(limitMs)), limitMs);
  try {
    return await run(abort.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a task was told to end because its time is over, and for no other reason. */
export function isOverTime({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === NAME;
}

function overTime(limitMs: number): Error {
  return Object.assign(new Error(`the task took longer than its limit of ${formatDuration(limitMs)}`), { name: NAME });
}
