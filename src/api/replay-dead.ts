/**
 * Dead letters are queued again, and the books hear of the jobs that run again with them: for the API and the command line.
 * The books hear of it after, as who looks at a job before it runs again would tell its old end once more. A store that is
 * away is noticed before anything is queued, and one that goes away in between is tried again; where even that fails, a
 * second call that names the job tells of it, though its letters are queued already.
 */
import { hasEnded } from "../domain/job.ts";
import type { DeadFilter } from "../frontier/frontier-admin.ts";
import type { ApiDeps } from "./api-deps.ts";

type Deps = {
  frontier: Pick<ApiDeps["frontier"], "replayDead" | "findJob">;
  store: Pick<ApiDeps["store"], "owners" | "webhooks">;
  clock: ApiDeps["clock"];
};
export type Replay = { limit: number; perSecond: number };

/** Jobs that the books are told of in one go. */
const BATCH = 500;
/** Between the tries to tell: as long as a store takes to come back, and less than callers wait. */
const WAITS_MS = [200, 1_000, 4_000];

/** How many, whosever jobs they were of. */
export async function replayDead(deps: Deps, filter: DeadFilter, { limit, perSecond }: Replay): Promise<number> {
  const { frontier, store } = deps;
  const named = filter.jobId === undefined ? [] : [filter.jobId];
  // One that does not run again after all is found to have ended when its owner's are counted next.
  await store.owners.setOpen(named, true);
  const { replayed, jobIds } = await frontier.replayDead(filter, limit, perSecond);
  const running = await Promise.all(named.map((jobId) => frontier.findJob(jobId)));
  const again = running.flatMap((job) => (job === undefined || hasEnded(job.state) ? [] : [job.id]));
  const all = [...new Set([...jobIds, ...again])];
  for (let from = 0; from < all.length; from += BATCH) await tell(deps, all.slice(from, from + BATCH));
  return replayed;
}

/** They run again, and count again as ones of their owners'; they will have another end to tell of. */
async function tell({ store, clock }: Deps, jobIds: readonly string[]): Promise<void> {
  for (const waitMs of [...WAITS_MS, undefined]) {
    try {
      await store.owners.setOpen(jobIds, true);
      return await store.webhooks.reopen(jobIds, clock.now());
    } catch (error) {
      if (waitMs === undefined) throw error;
      await clock.sleep(waitMs);
    }
  }
}
