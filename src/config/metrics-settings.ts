/** The part of the settings that is about what is remembered of the fleet, and told to Prometheus. */
import { count, duration, type Field, flag, limit, text } from "./fields.ts";

export const METRICS_SETTINGS = {
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
  metricsPort: limit(
    count({
      env: "TRAWL_METRICS_PORT",
      shown: 9464,
      least: 0,
      most: 65_535,
      doc: "The port at which `trawl worker` and `trawl up` tell Prometheus of all their processes, at `/metrics`; 0 takes any that is free. `trawl serve` has its own on the port of the API.",
    }),
  ),
  metricsHost: text({
    env: "TRAWL_METRICS_HOST",
    shown: "127.0.0.1",
    doc: "The address they listen on for that. Whoever reaches it may read it.",
  }),
  metricsOpen: flag({
    env: "TRAWL_METRICS_OPEN",
    shown: false,
    doc: "Whether `/metrics` of `trawl serve` answers without a key, where there are keys.",
  }),
} as const satisfies Record<string, Field<unknown>>;
