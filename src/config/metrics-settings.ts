/** The part of the settings that is about what is told to Prometheus. */
import { count, type Field, flag, limit, text } from "./fields.ts";

export const METRICS_SETTINGS = {
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
