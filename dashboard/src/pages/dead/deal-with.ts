/** Replays or discards: all that a filter names, or the single ones that were picked. */
import type { DeadFilter } from "../../../../src/client/client.ts";
import { api } from "../../session.ts";

/** `tasks`: only these. A tenant's key has to name the job as well. */
export type Chosen = { filter: DeadFilter; tasks: readonly string[] | undefined; count: number };

/** One request takes so many tasks. */
const BATCH = 500;
const MOST = 1_000_000;

export function replay(chosen: Chosen, { limit, perSecond }: { limit: number; perSecond: number }): Promise<number> {
  return inBatches(chosen, limit, (choice, most) => api().dead.replay(choice, { limit: most, perSecond }));
}

export function discard(chosen: Chosen): Promise<number> {
  return inBatches(chosen, chosen.count, (choice, most) => api().dead.discard(choice, { limit: most }));
}

async function inBatches(
  { filter, tasks }: Chosen,
  limit: number,
  deal: (choice: DeadFilter & { tasks?: readonly string[] }, most: number) => Promise<number>,
): Promise<number> {
  if (tasks === undefined) return deal(filter, Math.min(Math.max(1, limit), MOST));
  let sum = 0;
  for (let from = 0; from < tasks.length; from += BATCH) {
    const batch = tasks.slice(from, from + BATCH);
    sum += await deal({ ...filter, tasks: batch }, batch.length);
  }
  return sum;
}
