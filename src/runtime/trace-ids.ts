/**
 * Ids of traces and spans, made of what every process has anyway: the id of the request, of the job and of the task. So
 * spans of many processes are one trace, and nothing has to be passed on for it. As W3C Trace Context has them: 32 and 16
 * hexadecimal digits.
 */
import { hash } from "node:crypto";

/** Where a request comes from, as its header says. */
export type TraceParent = { traceId: string; spanId: string; isSampled: boolean };

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const ZEROS = /^0+$/;
/** A trace id, and behind it whether whoever began the trace wants nothing recorded of it. */
const TRACED_REQUEST = /^([0-9a-f]{32})(-00)?$/;
const SAMPLED = 1;

/** Undefined where there is none, or none that can be read. */
export function parseTraceparent(header: unknown): TraceParent | undefined {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(String(header)) ?? [];
  if (traceId === "" || ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** The id of a request that belongs to a trace. One that is not to be recorded says so, to every process that meets it. */
export function requestIdOfTrace({ traceId, isSampled }: TraceParent): string {
  return isSampled ? traceId : `${traceId}-00`;
}

/** The trace that a request is told in. */
export function traceOf(requestId: string): { traceId: string; isSampled: boolean } {
  const [, own = "", unsampled] = TRACED_REQUEST.exec(requestId) ?? [];
  if (own !== "" && !ZEROS.test(own)) return { traceId: own, isSampled: unsampled === undefined };
  return { traceId: hash("sha256", requestId).slice(0, 32), isSampled: true };
}

/** The span of a request's submission, which its tasks hang under. */
export function submitSpanId(requestId: string): string {
  return hash("sha256", `submit\n${requestId}`).slice(0, 16);
}

/** The span of a task; `share`, from 0 to 1, decides whether it is among those that are recorded. */
export function taskSpan(jobId: string, taskId: string): { spanId: string; share: number } {
  const digits = hash("sha256", `task\n${jobId}\n${taskId}`);
  return { spanId: digits.slice(0, 16), share: Number.parseInt(digits.slice(16, 24), 16) / 0x1_0000_0000 };
}
