/** Tracing with OpenTelemetry. Works with any SDK and sets the ids of the spans. Loaded only if an SDK is present. */
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { submitSpanId, type TraceParent, taskSpan, traceOf } from "../trace-ids.ts";
import type {
  PastSpan,
  SpanAttributes,
  SpanEnd,
  StepOptions,
  SubmissionSpan,
  TaskTrace,
  TracedTask,
  Tracing,
} from "../tracing.ts";
import type { PlannedIds, SpanIds } from "./planned-ids.ts";

type OtelDeps = {
  tracer: Tracer;
  /** Undefined for an SDK that was started by the user, which generates its own ids. */
  ids: PlannedIds | undefined;
  /** Masks secrets in a text. */
  redact(text: string): string;
  shutdown(): Promise<void>;
};

/** `share`: the fraction of tasks that are sampled, from 0 to 1. */
export function createOtelTracing({ tracer, ids, redact, shutdown }: OtelDeps, { share }: { share: number }): Tracing {
  /** Removes undefined values and masks secrets. */
  function masked(attributes: SpanAttributes): Record<string, string | number | boolean> {
    const known = Object.entries(attributes).filter(
      (pair): pair is [string, string | number | boolean] => pair[1] !== undefined,
    );
    return Object.fromEntries(known.map(([name, value]) => [name, typeof value === "string" ? redact(value) : value]));
  }

  function finish(span: Span, { attributes = {}, failure }: SpanEnd, at?: Date): void {
    span.setAttributes(masked(attributes));
    if (failure !== undefined) {
      const { kind, message = kind } = failure;
      span.setAttribute("error.type", kind);
      span.setStatus({ code: SpanStatusCode.ERROR, message: redact(message) });
    }
    span.end(at);
  }

  function withIds(own: SpanIds, make: () => Span): Span {
    return ids === undefined ? overwriteIds(make(), own) : ids.with(own, make);
  }

  function submission(requestId: string, from: TraceParent | undefined, given: SpanAttributes): SubmissionSpan {
    const { traceId, isSampled } = traceOf(requestId);
    if (!isSampled) return { end: () => {} };
    const own = { traceId, spanId: submitSpanId(requestId) };
    const parent = from?.traceId === traceId ? contextOf(traceId, from.spanId) : ROOT_CONTEXT;
    const kind = from === undefined ? SpanKind.INTERNAL : SpanKind.SERVER;
    const attributes = masked({ "trawl.request.id": requestId, ...given });
    const span = withIds(own, () => tracer.startSpan("submit", { kind, attributes }, parent));
    return { end: (end) => finish(span, end) };
  }

  function task({ requestId, jobId, taskId, partOf, attributes: given }: TracedTask): TaskTrace | undefined {
    const { traceId, isSampled } = traceOf(requestId);
    const own = taskSpan(jobId, taskId);
    const firstTask = partOf === undefined ? undefined : taskSpan(jobId, partOf);
    // A continuation is sampled if its first task is.
    if (!isSampled || (firstTask ?? own).share >= share) return undefined;
    const inside = contextOf(traceId, own.spanId);
    const outside = contextOf(traceId, firstTask?.spanId ?? submitSpanId(requestId));
    const base = masked(given);

    function past(name: string, { from, to, ...end }: PastSpan): void {
      finish(tracer.startSpan(name, { startTime: new Date(from), attributes: base }, inside), end, new Date(to));
    }

    async function step<T>(
      name: string,
      options: StepOptions,
      work: () => Promise<T>,
      toEnd: (result: T) => SpanEnd,
    ): Promise<T> {
      const kind = options.kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const attributes = { ...base, ...masked(options.attributes) };
      const span = tracer.startSpan(name, { kind, attributes }, inside);
      try {
        // Spans that the work itself creates, e.g. in a spider's handler, become children.
        const result = await context.with(trace.setSpan(inside, span), work);
        finish(span, toEnd(result));
        return result;
      } catch (error) {
        finish(span, { failure: failureOf(error) });
        throw error;
      }
    }

    function end({ from, to, ...result }: PastSpan): void {
      const options = { kind: SpanKind.CONSUMER, startTime: new Date(from), attributes: base };
      const span = withIds({ traceId, spanId: own.spanId }, () => tracer.startSpan("task", options, outside));
      finish(span, result, new Date(to));
    }

    return { past, step, end };
  }

  return { isOn: true, submission, task, close: shutdown };
}

/**
 * Overwrites the ids of a span of the user's own SDK. In all SDK versions so far, `spanContext` returns the object that
 * is exported. If a future version returns a copy or a frozen object, all spans are still in the right trace, but their
 * parents have unknown ids.
 */
function overwriteIds(span: Span, own: SpanIds): Span {
  const context = span.spanContext();
  // Spans that are not recorded may share one context.
  if (span.isRecording() && !Object.isFrozen(context)) Object.assign(context, own);
  return span;
}

/** The context of a span that another process may have created. */
function contextOf(traceId: string, spanId: string): Context {
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

function failureOf(error: unknown): NonNullable<SpanEnd["failure"]> {
  if (!(error instanceof Error)) return { kind: typeof error, message: String(error) };
  const { code } = error as { code?: unknown };
  return { kind: typeof code === "string" ? code : error.name, message: error.message };
}
