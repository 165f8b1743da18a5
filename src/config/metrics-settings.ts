/** The settings of history and Prometheus metrics. */
import { count, duration, type Field, flag, limit, text } from "./fields.ts";

export const METRICS_SETTINGS = {
  historyFineMs: duration({
    env: "TRAWL_HISTORY_FINE",
    default: "1d",
    min: "1h",
    max: "30d",
    doc: "How long the store keeps history in buckets of 10 seconds.",
  }),
  historyMediumMs: duration({
    env: "TRAWL_HISTORY_MEDIUM",
    default: "14d",
    min: "1h",
    max: "365d",
    doc: "How long the store keeps history in buckets of 5 minutes.",
  }),
  historyCoarseMs: duration({
    env: "TRAWL_HISTORY_COARSE",
    default: "400d",
    min: "1h",
    max: "3650d",
    doc: "How long the store keeps history in buckets of one hour.",
  }),
  metricsPort: limit(
    count({
      env: "TRAWL_METRICS_PORT",
      default: 9464,
      min: 0,
      max: 65_535,
      doc: "Port on which `trawl worker` and `trawl up` serve the Prometheus metrics of all their processes at `/metrics`; 0 selects a free port. `trawl serve` serves its own metrics on the API port.",
    }),
  ),
  metricsHost: text({
    env: "TRAWL_METRICS_HOST",
    default: "127.0.0.1",
    doc: "Address that the metrics port listens on. Every client that can reach the address can read the metrics.",
  }),
  metricsOpen: flag({
    env: "TRAWL_METRICS_OPEN",
    default: false,
    doc: "Whether clients can read `/metrics` of `trawl serve` without a key even if API keys exist.",
  }),
} as const satisfies Record<string, Field<unknown>>;
