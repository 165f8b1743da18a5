/** Builds the schedules. The module is slow to load, so callers import it on first use. */

import type { Config } from "../config/schema.ts";
import { createOccurrenceQuota } from "../control/quota/occurrence-quota.ts";
import { createQuotaKeeper } from "../control/quota/quotas.ts";
import { type OpenedSchedules, openSchedules } from "../schedule/open-schedules.ts";
import type { App } from "./app.ts";
import { checkRules } from "./extractor.ts";

/** `counted`: the schedule store, possibly wrapped to count occurrences for metrics. */
export function composeSchedules(config: Config, trawl: App, counted = trawl.store.schedules): OpenedSchedules {
  const { frontier, clock } = trawl;
  const store = { ...trawl.store, schedules: counted };
  const quotas = createQuotaKeeper({ owners: store.owners, keys: store.keys, frontier, clock });
  const findObstacle = createOccurrenceQuota({ keys: store.keys, quotas, clock, fixed: config.apiKeys });
  return openSchedules({ ...trawl, store, config, checkRules, findObstacle });
}
