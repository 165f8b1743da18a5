/** The settings of tracing. */
import { type Field, fraction, onOffOr } from "./fields.ts";
import type { SettingsSource } from "./resolve.ts";

export const TRACING_SETTINGS = {
  otel: onOffOr({
    env: "TRAWL_OTEL",
    default: "off",
    or: "auto",
    doc: "Whether [traces](tracing.md) are sent with OpenTelemetry. You must install the OpenTelemetry packages, and configure them with the `OTEL_*` variables. `auto`: traces are sent if the packages are installed. The default is `auto` if `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set, unless `OTEL_SDK_DISABLED` is `true` or `OTEL_TRACES_EXPORTER` is `none`. Otherwise, the default is `off`. If an OpenTelemetry SDK already runs in the process (`node --import`), traces are always sent.",
  }),
  traceShare: fraction({
    env: "TRAWL_TRACE_SAMPLE",
    default: 1,
    doc: "Fraction of tasks that are traced, from 0 to 1. Reduce it if large jobs produce too many traces. All processes select the same tasks.",
  }),
} as const satisfies Record<string, Field<unknown>>;

/** Reads the standard OpenTelemetry variables. This source has the lowest precedence. */
export function otelSource(environment: Readonly<Record<string, string | undefined>>): SettingsSource {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = environment;
  const isUnwanted = /^true$/i.test(environment.OTEL_SDK_DISABLED ?? "") || environment.OTEL_TRACES_EXPORTER === "none";
  const isWanted = !isUnwanted && Boolean(all || traces);
  return { from: "environment", values: { otel: isWanted ? "auto" : undefined } };
}
