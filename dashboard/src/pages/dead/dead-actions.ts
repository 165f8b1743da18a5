/** Replays or discards dead letters: all that match a filter, or selected ones. */
import type { DeadFilter } from "../../../../src/client/client.ts";
import { api } from "../../session.ts";

/** `tasks` limits the selection to these ids. With the key of a tenant, `filter` must also contain the job id. */
export type DeadSelection = { filter: DeadFilter; tasks: readonly string[] | undefined; count: number };

/** The maximum number of task ids per request. */
const BATCH = 500;
/** The maximum that the API allows. */
const LIMIT_MAX = 1_000_000;

export function replay(
  selection: DeadSelection,
  { limit, perSecond }: { limit: number; perSecond: number },
): Promise<number> {
  return inBatches(selection, limit, (target, max) => api().dead.replay(target, { limit: max, perSecond }));
}

export function discard(selection: DeadSelection): Promise<number> {
  return inBatches(selection, selection.count, (target, max) => api().dead.discard(target, { limit: max }));
}

async function inBatches(
  { filter, tasks }: DeadSelection,
  limit: number,
  act: (target: DeadFilter & { tasks?: readonly string[] }, max: number) => Promise<number>,
): Promise<number> {
  if (tasks === undefined) return act(filter, Math.min(Math.max(1, limit), LIMIT_MAX));
  let sum = 0;
  for (let from = 0; from < tasks.length; from += BATCH) {
    const batch = tasks.slice(from, from + BATCH);
    sum += await act({ ...filter, tasks: batch }, batch.length);
  }
  return sum;
}
