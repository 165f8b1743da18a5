/**
 * The tracing interface, which `otel/` implements with OpenTelemetry. Each request has one trace across all processes:
 * the submission is the root span, its children are the tasks, and the children of a task are the steps of its
 * attempts. If tracing is off, `isOn` is false and no spans are created.
 */
import type { TraceParent } from "./trace-ids.ts";

/** Span attributes. Undefined values are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** How a span ended. `failure`: its kind and a message. */
export type SpanEnd = {
  attributes?: SpanAttributes;
  failure?: { kind: string; message?: string | undefined } | undefined;
};

export type SubmissionSpan = { end(how: SpanEnd): void };

export type TaskTrace = {
  /** Runs `work` in a span. `toEnd` converts its result to the end of the span; an error is recorded as a failure. */
  step<T>(name: string, options: StepOptions, work: () => Promise<T>, toEnd: (result: T) => SpanEnd): Promise<T>;
  /** Records a span that has already ended. Its times are those of this process's clock. */
  past(name: string, span: PastSpan): void;
  /** Records the span of the task. */
  end(span: PastSpan): void;
};

export type StepOptions = {
  /** `client`: a request to another service. */
  kind: "client" | "internal";
  attributes: SpanAttributes;
};

/** A span that has ended. `from` and `to` are epoch ms. */
export type PastSpan = SpanEnd & { from: number; to: number };

export type TracedTask = {
  requestId: string;
  jobId: string;
  taskId: string;
  /** The task whose page this one continues. */
  partOf: string | undefined;
  /** Attributes of all its spans. */
  attributes: SpanAttributes;
};

export type Tracing = {
  isOn: boolean;
  /** Starts the span of a submission. `from`: the trace context of the caller. */
  submission(requestId: string, from: TraceParent | undefined, attributes: SpanAttributes): SubmissionSpan;
  /** The trace of a task; undefined if the task is not sampled. */
  task(task: TracedTask): TaskTrace | undefined;
  /** Exports all recorded spans. */
  close(): Promise<void>;
};

type TracedSubmission<T> = {
  requestId: string;
  from?: TraceParent | undefined;
  attributes: SpanAttributes;
  /** Converts the result to attributes. */
  toAttributes?(result: T): SpanAttributes;
};

/** Runs a submission in a span. */
export async function traceSubmission<T>(
  tracing: Tracing,
  { requestId, from, attributes, toAttributes = () => ({}) }: TracedSubmission<T>,
  work: () => Promise<T>,
): Promise<T> {
  if (!tracing.isOn) return work();
  const submission = tracing.submission(requestId, from, attributes);
  try {
    const result = await work();
    submission.end({ attributes: toAttributes(result) });
    return result;
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    submission.end({ failure: { kind: code ?? "INTERNAL", message } });
    throw error;
  }
}

/** Tracing that is turned off. */
export const NO_TRACING: Tracing = {
  isOn: false,
  submission: () => ({ end: () => {} }),
  task: () => undefined,
  close: async () => {},
};
