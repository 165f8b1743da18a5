/** Builds schedules for the command line: to make and change them, and to fire them. Takes long to load. */
import { createQuotaKeeper } from "./api/quota/quotas.ts";
import { createSlotQuota } from "./api/quota/slot-quota.ts";
import type { Trawl } from "./compose.ts";
import { extractorOf } from "./compose-extractor.ts";
import type { Config } from "./config/schema.ts";
import { type OpenedSchedules, openSchedules } from "./schedule/open-schedules.ts";

/** `counted`: the book, as whoever counts its slots has it. */
export function composeSchedules(config: Config, trawl: Trawl, counted = trawl.store.schedules): OpenedSchedules {
  const { frontier, clock } = trawl;
  const store = { ...trawl.store, schedules: counted };
  const quotas = createQuotaKeeper({ owners: store.owners, keys: store.keys, frontier, clock });
  const findObstacle = createSlotQuota({ keys: store.keys, quotas, clock, fixed: config.apiKeys });
  return openSchedules({ ...trawl, store, config, checkRules: (spec) => void extractorOf(spec), findObstacle });
}
