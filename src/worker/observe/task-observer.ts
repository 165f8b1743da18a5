/**
 * The events of one attempt, from lease to settlement. The log, the metrics, the history, the traces and the supervisor
 * of the process subscribe to them. An event without a subscriber is `undefined`: the worker then builds nothing for
 * it.
 */
import type { BlockStep } from "../../domain/block.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import type { RobotsAnswer } from "../../fetch/robots.ts";
import type { Grant, SettledState, Settlement } from "../../frontier/frontier.ts";
import type { ExtractedPage } from "../../spider/page-reader.ts";
import type { JobPlan } from "../task/plan.ts";

/** One lease of a task in this worker. The worker fills it in as the attempt proceeds. */
export type Attempt = {
  readonly grant: Grant;
  /** The task is a suspect (F6), and nothing else runs in this process. */
  readonly isAlone: boolean;
  readonly leasedAt: number;
  /** Known from `planned` on. */
  plan: JobPlan | undefined;
  /** When the result was known; `leasedAt` until then. */
  endedAt: number;
};

/** A page request that has ended, with a response or an error. */
export type FetchedPage = { step: "fetch" | "render"; outcome: FetchOutcome; startedAt: number; endedAt: number };

/** When reading a page started and ended, even if the handler threw. */
export type ReadTime = { startedAt: number; endedAt: number };

/** When the settler began to write the batch, sent it to the broker, and got the reply. */
type SettleTimes = { storeAt: number; settleAt: number; settledAt: number };

/** The settlement as sent, and the state that the frontier gave the task. */
export type SettledAttempt = { settlement: Settlement; state: Exclude<SettledState, "stale">; times: SettleTimes };

/** The results of the steps that `trace` runs. */
export type StepResults = {
  robots: RobotsAnswer;
  fetch: FetchOutcome;
  render: FetchOutcome;
  deliver: Pick<Settlement, "outcome" | "site">;
  extract: ExtractedPage;
};

type Listener<Detail = void> = ((attempt: Attempt, detail: Detail) => void) | undefined;

export type TaskObserver = {
  leased?: Listener;
  /** The job of the task is loaded. */
  planned?: Listener;
  fetched?: Listener<FetchedPage>;
  /** The site has blocked the page, and the job has steps for blocks. */
  steppedAfterBlock?: Listener<BlockStep | "fail">;
  /** The page is about to be read by the spider's handler or the job's rules. A handler may never return. */
  reading?: Listener;
  read?: Listener<ReadTime>;
  /** The attempt has a result, or was aborted. After this, only the broker and the store can delay it. */
  ended?: Listener;
  /** The result is written and counted. */
  settled?: Listener<SettledAttempt>;
  /** The result was discarded: another worker holds the lease. */
  lost?: Listener<Omit<SettledAttempt, "state">>;
  /**
   * Runs one step inside a span, so that spans created by a handler become children of that span. This is not an event,
   * because OpenTelemetry needs an active context while the step runs. Only the tracer implements it.
   */
  trace?: TraceStep | undefined;
};

type TraceStep = <Name extends keyof StepResults>(
  attempt: Attempt,
  name: Name,
  /** The URL for the steps `fetch` and `render`, the site for other steps. */
  target: string,
  work: () => Promise<StepResults[Name]>,
) => Promise<StepResults[Name]>;

/** Returns one observer that notifies all given observers, in order. */
export function combineObservers(observers: readonly TaskObserver[]): TaskObserver {
  return {
    leased: all(observers.map(({ leased }) => leased)),
    planned: all(observers.map(({ planned }) => planned)),
    fetched: all(observers.map(({ fetched }) => fetched)),
    steppedAfterBlock: all(observers.map(({ steppedAfterBlock }) => steppedAfterBlock)),
    reading: all(observers.map(({ reading }) => reading)),
    read: all(observers.map(({ read }) => read)),
    ended: all(observers.map(({ ended }) => ended)),
    settled: all(observers.map(({ settled }) => settled)),
    lost: all(observers.map(({ lost }) => lost)),
    trace: observers.find(({ trace }) => trace !== undefined)?.trace,
  };
}

function all<Detail>(listeners: readonly Listener<Detail>[]): Listener<Detail> {
  const present = listeners.filter((listener) => listener !== undefined);
  if (present.length < 2) return present[0];
  return (attempt, detail) => {
    for (const listener of present) listener(attempt, detail);
  };
}
