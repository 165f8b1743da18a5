/** The time a task may take from lease to result. */
import { formatDuration } from "../domain/duration.ts";

const NAME = "TimeLimit";

/**
 * Runs a task with a signal that is also aborted when it has taken `limitMs`; Infinity is no limit. Whoever runs it
 * decides what becomes of it then: nothing is left behind here.
 */
export async function withinTimeLimit<T>(
  limitMs: number,
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (limitMs === Number.POSITIVE_INFINITY) return run(outer);
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(overTime(limitMs)), limitMs);
  const pass = () => own.abort(outer.reason);
  outer.addEventListener("abort", pass, { once: true });
  if (outer.aborted) pass();
  try {
    return await run(own.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", pass);
  }
}

/** Whether a task was told to end because its time is over, and for no other reason. */
export function isOverTime({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === NAME;
}

function overTime(limitMs: number): Error {
  return Object.assign(new Error(`the task took longer than its limit of ${formatDuration(limitMs)}`), { name: NAME });
}
