import { BATCH_MOST } from "./frontier.ts";

/** The tasks that a filter of dead letters names (F15), in order, each once however it is written, BATCH_MOST at most. */
export function chosenTasks(taskIds: readonly string[]): number[] {
  const ids = [...new Set(taskIds.map(Number))].filter(Number.isSafeInteger);
  return ids.slice(0, BATCH_MOST).sort((one, other) => one - other);
}
