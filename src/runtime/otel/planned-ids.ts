/**
 * Ids for an OpenTelemetry SDK: those of the span that is about to be made, where it is one of ours, else any. An SDK asks
 * for ids without saying for what, so they are laid out for it; between that and its asking nothing else can run.
 */
import { randomBytes } from "node:crypto";

export type SpanIds = { traceId: string; spanId: string };

export type PlannedIds = {
  generateTraceId(): string;
  generateSpanId(): string;
  /** Makes a span that has these. */
  with<T>(ids: SpanIds, make: () => T): T;
};

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;

export function createPlannedIds(): PlannedIds {
  let planned: SpanIds | undefined;
  return {
    generateTraceId: () => planned?.traceId ?? randomBytes(TRACE_BYTES).toString("hex"),
    generateSpanId: () => planned?.spanId ?? randomBytes(SPAN_BYTES).toString("hex"),
    with(ids, make) {
      planned = ids;
      try {
        return make();
      } finally {
        planned = undefined;
      }
    },
  };
}
