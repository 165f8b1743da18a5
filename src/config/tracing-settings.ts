/** The part of the settings that is about traces. */
import { type Field, share, switchOr } from "./fields.ts";
import type { Source } from "./resolve.ts";

export const TRACING_SETTINGS = {
  otel: switchOr({
    env: "TRAWL_OTEL",
    shown: "off",
    or: "auto",
    doc: "Sends [traces](tracing.md) by OpenTelemetry, as the `OTEL_*` variables say, with packages that you install. `auto`: where they are installed; so it is where `OTEL_EXPORTER_OTLP_ENDPOINT` is set and this is not.",
  }),
  traceShare: share({
    env: "TRAWL_TRACE_SAMPLE",
    shown: 1,
    doc: "Which share of tasks is traced, from 0 to 1: for jobs with very many. The same tasks in every process.",
  }),
} as const satisfies Record<string, Field<unknown>>;

/** What the variables that every traced program reads say: the weakest source. */
export function otelSource(environment: Readonly<Record<string, string | undefined>>): Source {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = environment;
  const isUnwanted = /^true$/i.test(environment.OTEL_SDK_DISABLED ?? "") || environment.OTEL_TRACES_EXPORTER === "none";
  const isWanted = !isUnwanted && Boolean(all || traces);
  return { from: "environment", values: { otel: isWanted ? "auto" : undefined } };
}
