/** Builds the retention service from the settings. */

import type { Config } from "../config/schema.ts";
import { deliveryJobId, deliveryOfJob } from "../domain/webhook.ts";
import { createRetention, type Retention, type RetentionDeps } from "../retain/retention.ts";
import { removeSessions } from "../session/remove-sessions.ts";
import type { App } from "./app.ts";

const ROUND_MS = 60_000;
const SHORTEST_ROUND_MS = 1_000;
/** Each replay of a job gets a new delivery job. At least this many delivery jobs are checked. */
const MIN_ROUNDS = 3;

export function composeRetention(config: Config, trawl: App): Retention {
  const { keepEndedMs, historyFineMs, historyMediumMs, historyCoarseMs } = config;
  const keepHistory = [historyFineMs, historyMediumMs, historyCoarseMs] as const;
  const everyMs = Math.min(ROUND_MS, Math.max(SHORTEST_ROUND_MS, keepEndedMs / 10));
  return createRetention(retentionDeps(trawl), { keepEndedMs, keepHistory, everyMs });
}

/** What the retention needs. `trawl delete` uses it too, if it works without a server. */
export function retentionDeps(trawl: App): RetentionDeps {
  const { frontier, store, bodies, spool, requestBodies, clock, log } = trawl;
  return {
    ...{ frontier, archive: store.archive, history: store.history, bodies, spool, requestBodies, clock, log },
    isCompanion: (jobId) => deliveryOfJob(jobId) !== undefined,
    async companionsOf(jobId) {
      // If an earlier deletion crashed after it removed the webhook row, the number of rounds is unknown.
      const rounds = Math.max(MIN_ROUNDS, (await store.webhooks.find(jobId))?.round ?? 0);
      return Array.from({ length: rounds }, (_, nth) => deliveryJobId(jobId, nth + 1));
    },
    removeEntries: (jobIds) => store.webhooks.remove(jobIds),
    removeSessions: (job, signal) => removeSessions(frontier, job, signal),
  };
}
