/**
 * Ids of traces and spans. They are derived from the ids of the request, the job and the task, which every process
 * knows. So the spans of many processes form one trace, and the processes need not pass a trace context. The format is
 * that of W3C Trace Context: 32 hexadecimal digits for a trace, 16 for a span.
 */
import { hash } from "node:crypto";

/** The trace context of a request, from its header. */
export type TraceParent = { traceId: string; spanId: string; isSampled: boolean };

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const ZEROS = /^0+$/;
/** A trace id, with the suffix -00 if the trace is not sampled. */
const TRACED_REQUEST = /^([0-9a-f]{32})(-00)?$/;
const SAMPLED = 1;

/** Parses a `traceparent` header. Undefined if it is missing or invalid. */
export function parseTraceparent(header: unknown): TraceParent | undefined {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(String(header)) ?? [];
  if (traceId === "" || ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** The request id for a request of this trace. Its suffix shows whether the trace is sampled. */
export function requestIdOfTrace({ traceId, isSampled }: TraceParent): string {
  return isSampled ? traceId : `${traceId}-00`;
}

/** The trace of a request. Its id is the trace id in the request id, or else it is derived from the request id. */
export function traceOf(requestId: string): { traceId: string; isSampled: boolean } {
  const [, own = "", unsampled] = TRACED_REQUEST.exec(requestId) ?? [];
  if (own !== "" && !ZEROS.test(own)) return { traceId: own, isSampled: unsampled === undefined };
  return { traceId: hash("sha256", requestId).slice(0, 32), isSampled: true };
}

/** The id of the span of a submission. This span is the parent of the task spans. */
export function submitSpanId(requestId: string): string {
  return hash("sha256", `submit\n${requestId}`).slice(0, 16);
}

/** The span of a task. `share`, from 0 to 1, decides whether the task is sampled. */
export function taskSpan(jobId: string, taskId: string): { spanId: string; share: number } {
  const digits = hash("sha256", `task\n${jobId}\n${taskId}`);
  return { spanId: digits.slice(0, 16), share: Number.parseInt(digits.slice(16, 24), 16) / 0x1_0000_0000 };
}
