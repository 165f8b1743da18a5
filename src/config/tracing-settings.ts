/** The settings of tracing. */
import { type Field, fraction, onOffOr } from "./fields.ts";
import type { Source } from "./resolve.ts";

export const TRACING_SETTINGS = {
  otel: onOffOr({
    env: "TRAWL_OTEL",
    default: "off",
    or: "auto",
    doc: "Whether [traces](tracing.md) are sent with OpenTelemetry. You install its packages and configure them with the `OTEL_*` variables. `auto`: traces are sent if the packages are installed. If you do not set it, the default is `auto` when `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set, else `off`. `OTEL_SDK_DISABLED=true` and `OTEL_TRACES_EXPORTER=none` keep this default at `off`. With an SDK that you have started yourself, traces are always sent.",
  }),
  traceShare: fraction({
    env: "TRAWL_TRACE_SAMPLE",
    default: 1,
    doc: "Fraction of tasks that are traced, from 0 to 1. Reduce it if large jobs produce too many traces. Every process selects the same tasks.",
  }),
} as const satisfies Record<string, Field<unknown>>;

/** Reads the standard OpenTelemetry variables. This source has the lowest precedence. */
export function otelSource(environment: Readonly<Record<string, string | undefined>>): Source {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = environment;
  const isUnwanted = /^true$/i.test(environment.OTEL_SDK_DISABLED ?? "") || environment.OTEL_TRACES_EXPORTER === "none";
  const isWanted = !isUnwanted && Boolean(all || traces);
  return { from: "environment", values: { otel: isWanted ? "auto" : undefined } };
}
