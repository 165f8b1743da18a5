/**
 * What is told of the way of a request to whoever records traces (OpenTelemetry). One trace per request, over all
 * processes that have to do with it: its submission, below that each of its tasks, below those what was done for them.
 * Where nobody records any, nothing is made: `isOn` is false, and callers go on without.
 */
import type { TraceParent } from "./trace-ids.ts";

/** Span attributes. Undefined values are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** How a span ended. `failure`: its kind and a message. */
export type SpanEnd = { words?: SpanAttributes; failure?: { kind: string; says?: string | undefined } | undefined };

export type Submission = { end(how: SpanEnd): void };

export type TaskTrace = {
  /** Runs `work` in a span. `tell` converts its result to the end of the span; an error is recorded as a failure. */
  step<T>(name: string, asked: StepOptions, work: () => Promise<T>, tell: (result: T) => SpanEnd): Promise<T>;
  /** Records a span that has ended, with times of this process's clock. */
  past(name: string, over: Over): void;
  /** Ends the span of the task. */
  end(over: Over): void;
};

export type StepOptions = {
  /** `client`: a request to another service. */
  kind: "client" | "internal";
  words: SpanAttributes;
};

export type Over = SpanEnd & { from: number; to: number };

export type TracedTask = {
  requestId: string;
  jobId: string;
  taskId: string;
  /** The task whose page this one continues. */
  partOf: string | undefined;
  /** Attributes of all its spans. */
  words: SpanAttributes;
};

export type Tracing = {
  isOn: boolean;
  /** Starts the span of a submission. `from`: the trace context of the caller. */
  submission(requestId: string, from: TraceParent | undefined, words: SpanAttributes): Submission;
  /** Undefined for a task that is not sampled. */
  task(task: TracedTask): TaskTrace | undefined;
  /** Exports all recorded spans. */
  close(): Promise<void>;
};

type Submitted<T> = {
  requestId: string;
  from?: TraceParent | undefined;
  words: SpanAttributes;
  /** Converts the result to attributes. */
  tell?(result: T): SpanAttributes;
};

/** Runs a submission in a span. */
export async function traceSubmission<T>(tracing: Tracing, asked: Submitted<T>, work: () => Promise<T>): Promise<T> {
  if (!tracing.isOn) return work();
  const { requestId, from, words, tell = () => ({}) } = asked;
  const submission = tracing.submission(requestId, from, words);
  try {
    const result = await work();
    submission.end({ words: tell(result) });
    return result;
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    submission.end({ failure: { kind: code ?? "INTERNAL", says: message } });
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
