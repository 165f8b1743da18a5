/** Builds schedules for the command line: to make and change them, and to fire them. Takes long to load. */
import type { Trawl } from "./compose.ts";
import { extractorOf } from "./compose-extractor.ts";
import type { Config } from "./config/schema.ts";
import { type OpenedSchedules, openSchedules } from "./schedule/open-schedules.ts";

export function composeSchedules(config: Config, trawl: Trawl): OpenedSchedules {
  return openSchedules({ ...trawl, config, checkRules: (spec) => void extractorOf(spec) });
}
