/**
 * Queues dead letters again, and records in the store that their jobs run again. Used by the API and the command line.
 *
 * The store is updated after the broker. Otherwise a notifier that reads the job before it runs again would report its
 * old end a second time. A first write detects an unreachable store before anything is queued. If the store becomes
 * unreachable in between, the update is retried. If the retries fail as well, call `replayDead` again with the id of
 * the job: the letters are queued already, and the second call updates the store.
 */
import { hasEnded } from "../domain/job.ts";
import type { DeadFilter, FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ControlStores } from "../store/store.ts";

type Deps = {
  frontier: Pick<FrontierAdmin, "replayDead" | "findJob">;
  store: Pick<ControlStores, "owners" | "webhooks">;
  clock: Clock;
};

/** Jobs per write to the store. */
const BATCH = 500;
/** Delays between retries: together long enough for a store to restart, and shorter than the timeouts of callers. */
const WAITS_MS = [200, 1_000, 4_000];

/** Returns the number of letters queued. */
export async function replayDead(
  deps: Deps,
  filter: DeadFilter,
  { limit, perSecond }: { limit: number; perSecond: number },
): Promise<number> {
  const { frontier, store } = deps;
  const named = filter.jobId === undefined ? [] : [filter.jobId];
  // If the job does not run again, the next count of its owner's jobs marks it as ended.
  await store.owners.setOpen(named, true);
  const { replayed, jobIds } = await frontier.replayDead(filter, limit, perSecond);
  const namedJobs = await Promise.all(named.map((jobId) => frontier.findJob(jobId)));
  const running = namedJobs.flatMap((job) => (job === undefined || hasEnded(job.state) ? [] : [job.id]));
  const all = [...new Set([...jobIds, ...running])];
  for (let from = 0; from < all.length; from += BATCH) await markRunning(deps, all.slice(from, from + BATCH));
  return replayed;
}

/** The jobs count as open jobs of their owners again, and their webhooks will report another end. */
async function markRunning({ store, clock }: Deps, jobIds: readonly string[]): Promise<void> {
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
