/** Dead letters are queued again, and the books hear of the jobs that run again with them: for the API and the command line. */
import type { DeadFilter } from "../frontier/frontier-admin.ts";
import type { ApiDeps } from "./api-deps.ts";

type Deps = Pick<ApiDeps, "frontier" | "clock"> & { store: Pick<ApiDeps["store"], "owners" | "webhooks"> };
export type Replay = { limit: number; perSecond: number };

/** Jobs that the books are told of in one go. */
const BATCH = 500;

/** How many, whosever jobs they were of. */
export async function replayDead(deps: Deps, filter: DeadFilter, { limit, perSecond }: Replay): Promise<number> {
  const { frontier, store, clock } = deps;
  const { replayed, jobIds } = await frontier.replayDead(filter, limit, perSecond);
  for (let from = 0; from < jobIds.length; from += BATCH) {
    const batch = jobIds.slice(from, from + BATCH);
    // They run again, and count again as ones of their owners'; they will have another end to tell of.
    await store.owners.setOpen(batch, true);
    await store.webhooks.reopen(batch, clock.now());
  }
  return replayed;
}
