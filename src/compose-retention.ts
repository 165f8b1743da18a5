/** The part of compose.ts that says what is kept for how long. */
import type { Trawl } from "./compose.ts";
import type { Config } from "./config/schema.ts";
import { deliveryJobId, toldJobId } from "./domain/webhook.ts";
import { createRetention, type Retention, type RetentionDeps } from "./retain/retention.ts";

const ROUND_MS = 60_000;
const SHORTEST_ROUND_MS = 1_000;
/** A job that is replayed has another one for its deliveries, each time. */
const ROUNDS_LOOKED_FOR = 3;

export function composeRetention(config: Config, trawl: Trawl): Retention {
  const { keepEndedMs, historyFineMs, historyMediumMs, historyCoarseMs } = config;
  const keepHistory = [historyFineMs, historyMediumMs, historyCoarseMs] as const;
  const everyMs = Math.min(ROUND_MS, Math.max(SHORTEST_ROUND_MS, keepEndedMs / 10));
  return createRetention(retentionDeps(trawl), { keepEndedMs, keepHistory, everyMs });
}

/** Also for a command that deletes by itself. */
export function retentionDeps(trawl: Trawl): RetentionDeps {
  const { frontier, store, bodies, parcels, clock, log } = trawl;
  return {
    ...{ frontier, archive: store.archive, history: store.history, bodies, parcels, clock, log },
    isCompanion: (jobId) => toldJobId(jobId) !== undefined,
    async companionsOf(jobId) {
      // Its note may have been removed by whoever went before us, and died: then the usual ones are looked for.
      const rounds = Math.max(ROUNDS_LOOKED_FOR, (await store.webhooks.find(jobId))?.round ?? 0);
      return Array.from({ length: rounds }, (_, nth) => deliveryJobId(jobId, nth + 1));
    },
    removeNotes: (jobIds) => store.webhooks.remove(jobIds),
  };
}
