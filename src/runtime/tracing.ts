/**
 * What is told of the way of a request to whoever records traces (OpenTelemetry). One trace per request, over all
 * processes that have to do with it: its submission, below that each of its tasks, below those what was done for them.
 * Where nobody records any, nothing is made: `isOn` is false, and callers go on without.
 */
import type { TraceParent } from "./trace-ids.ts";

/** Attributes; what is undefined is left out. */
export type SpanWords = Readonly<Record<string, string | number | boolean | undefined>>;

/** How something ended. `failure`: its kind in one word, and the rest of it. */
export type SpanEnd = { words?: SpanWords; failure?: { kind: string; says?: string | undefined } | undefined };

export type Submission = { end(how: SpanEnd): void };

export type TaskTrace = {
  /** Does some work, and tells of it what `tell` makes of its result; what it throws is told as it is. */
  step<T>(name: string, asked: StepAsked, work: () => Promise<T>, tell: (result: T) => SpanEnd): Promise<T>;
  /** Something that is over, at instants of this process's clock. */
  past(name: string, over: Over): void;
  /** The task itself has come to its end. */
  end(over: Over): void;
};

export type StepAsked = {
  /** `client`: asks somebody outside. */
  kind: "client" | "internal";
  words: SpanWords;
};

export type Over = SpanEnd & { from: number; to: number };

export type TracedTask = {
  requestId: string;
  jobId: string;
  taskId: string;
  /** The task that this one is a part of, where it goes on with another's page. */
  partOf: string | undefined;
  /** Of every span of it. */
  words: SpanWords;
};

export type Tracing = {
  isOn: boolean;
  /** A submission that begins now; `from`: who it came from. */
  submission(requestId: string, from: TraceParent | undefined, words: SpanWords): Submission;
  /** Undefined for a task that is not recorded. */
  task(task: TracedTask): TaskTrace | undefined;
  /** Hands over what was recorded. */
  close(): Promise<void>;
};

type Submitted<T> = {
  requestId: string;
  from?: TraceParent | undefined;
  words: SpanWords;
  /** What is told of the result. */
  tell?(result: T): SpanWords;
};

/** Does what submits a request, and tells of it. */
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

/** Where nobody wants to know. */
export const NO_TRACING: Tracing = {
  isOn: false,
  submission: () => ({ end: () => {} }),
  task: () => undefined,
  close: async () => {},
};
