/** The part of the settings that is about what is remembered of the fleet. */
import { duration, type Field } from "./fields.ts";

export const HISTORY_SETTINGS = {
  historyFineMs: duration({
    env: "TRAWL_HISTORY_FINE",
    shown: "1d",
    least: "1h",
    most: "30d",
    doc: "How long the store keeps what the fleet did in slots of 10 seconds.",
  }),
  historyMediumMs: duration({
    env: "TRAWL_HISTORY_MEDIUM",
    shown: "14d",
    least: "1h",
    most: "365d",
    doc: "The same in slots of 5 minutes.",
  }),
  historyCoarseMs: duration({
    env: "TRAWL_HISTORY_COARSE",
    shown: "400d",
    least: "1h",
    most: "3650d",
    doc: "The same in slots of an hour.",
  }),
} as const satisfies Record<string, Field<unknown>>;
