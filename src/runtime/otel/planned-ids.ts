/**
 * An id generator for an OpenTelemetry SDK: predetermined ids for our spans, random ids for others. The SDK does not
 * pass the span when it requests an id, so the ids are set just before the span is created. Both happen synchronously.
 */
import { randomBytes } from "node:crypto";

export type SpanIds = { traceId: string; spanId: string };

export type PlannedIds = {
  generateTraceId(): string;
  generateSpanId(): string;
  /** Creates a span with these ids. */
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
