/**
 * Tells whoever records traces what is done for a task: that it was leased, asked for, read, kept and settled, and, once it
 * has come to its end, the task itself. Called by the worker, task by task; where nothing is recorded it does nothing and
 * makes nothing.
 */
import { pageUrlOf } from "../domain/step-url.ts";
import type { Fetcher, FetchOutcome } from "../fetch/fetcher.ts";
import type { Grant } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { SpanEnd, SpanWords, TaskTrace, Tracing } from "../runtime/tracing.ts";
import type { JobPlan } from "./plan.ts";
import type { RunTaskDeps } from "./run-task.ts";
import type { SettleTimes } from "./settler.ts";
import { asItEnds, type ToldResult } from "./teller.ts";

/** One lease under way. */
export type Traced = {
  /** The job is known. */
  planned(plan: JobPlan): void;
  /** The same, with spans of what it asks outside. */
  listenTo(deps: RunTaskDeps): RunTaskDeps;
  /** The same, with a span of each page that it reads. */
  reading(plan: JobPlan): JobPlan;
  ended(result: ToldResult): ToldResult;
};

export type TaskTracer = { began(grant: Grant): Traced };

/** First leases of tasks that have not ended, to know when the task began; of older ones the last lease is all that is known. */
const REMEMBERED = 10_000;

export function createTaskTracer({ tracing, clock }: { tracing: Tracing; clock: Pick<Clock, "now"> }): TaskTracer {
  const firsts = new Map<string, number>();

  function remember(key: string, leasedAt: number): number {
    const known = firsts.get(key);
    if (known !== undefined) return known;
    firsts.set(key, leasedAt);
    const [oldest] = firsts.size > REMEMBERED ? firsts.keys() : [];
    if (oldest !== undefined) firsts.delete(oldest);
    return leasedAt;
  }

  function traced(grant: Grant): Traced {
    const leasedAt = clock.now();
    const key = `${grant.jobId} ${grant.taskId}`;
    let trace: TaskTrace | undefined;
    let spec: JobPlan["spec"] | undefined;
    let beganAt = leasedAt;

    function planned(plan: JobPlan): void {
      ({ spec } = plan);
      const { requestId = grant.jobId } = spec as Partial<JobPlan["spec"]>;
      trace = tracing.task({ requestId, ...tracedTask(grant) });
      if (trace === undefined) return;
      const waitedSince = dueSince(grant, plan) ?? leasedAt;
      beganAt = remember(key, waitedSince);
      trace.past("lease", { from: waitedSince, to: leasedAt, words: { "server.address": grant.site } });
    }

    function fetching(fetcher: Fetcher, name: string): Fetcher {
      return {
        fetch: (request) => step(name, requestWords(request.url), () => fetcher.fetch(request), fetchEnd),
        close: () => fetcher.close(),
      };
    }

    async function step<T>(name: string, words: SpanWords, work: () => Promise<T>, tell: (result: T) => SpanEnd) {
      return trace === undefined ? work() : trace.step(name, { kind: "client", words }, work, tell);
    }

    function keep(result: ToldResult, times: SettleTimes, failure: SpanEnd["failure"]): void {
      if (trace === undefined) return;
      const { storeAt, settleAt, settledAt } = times;
      const { outcome, tally, discovered } = result.settlement;
      const counts = { "trawl.records": tally.records, "trawl.links": discovered.length };
      trace.past("store", { from: storeAt, to: settleAt, words: { "trawl.records": tally.records } });
      trace.past("settle", { from: settleAt, to: settledAt, words: { "trawl.outcome": outcome.kind }, failure });
      // Whoever has the lease now ends it.
      if (failure !== undefined) return;
      const last = outcome.kind === "retry" || outcome.kind === "dead" ? asItEnds(outcome, { grant, spec }) : outcome;
      if (last.kind === "retry") return;
      firsts.delete(key);
      const ending = last.kind === "dead" ? { kind: last.because, says: last.detail } : undefined;
      const words = { "url.full": shownUrl(grant), "trawl.outcome": last.kind, ...counts };
      trace.end({ from: beganAt, to: settledAt, words, failure: ending });
    }

    return {
      planned,
      listenTo(deps) {
        if (trace === undefined) return deps;
        const { robots } = deps;
        return {
          ...deps,
          fetcher: fetching(deps.fetcher, "fetch"),
          renderer: fetching(deps.renderer, "render"),
          deliver: (asked, signal) =>
            step("deliver", { "server.address": asked.site }, () => deps.deliver(asked, signal), deliverEnd),
          robots: {
            knownAt: (url) => robots.knownAt(url),
            rulesAt(url, site, ask) {
              const work = () => robots.rulesAt(url, site, ask);
              // Mostly it is known: only who asks for it takes time.
              if (ask === undefined) return work();
              return step("robots", { "server.address": site }, work, robotsEnd);
            },
          },
        };
      },
      reading(plan) {
        if (trace === undefined) return plan;
        const open = trace;
        return {
          ...plan,
          read: (input) =>
            open.step(
              "extract",
              INTERNAL,
              async () => plan.read(input),
              ({ records, links }) => ({
                words: { "trawl.records": records.length, "trawl.links": links.length },
              }),
            ),
        };
      },
      ended: (result) => ({
        ...result,
        settled(times) {
          result.settled(times);
          keep(result, times, undefined);
        },
        lost: (times) => keep(result, times, { kind: "lease_lost", says: "the lease had gone to another worker" }),
      }),
    };
  }

  return { began: tracing.isOn ? traced : () => NOT_TRACED };
}

const INTERNAL = { kind: "internal", words: {} } as const;

const NOT_TRACED: Traced = {
  planned: () => {},
  listenTo: (deps) => deps,
  reading: (plan) => plan,
  ended: (result) => result,
};

function tracedTask({ jobId, taskId, kind, attempt, carry }: Grant) {
  const { fetchedBy } = (kind === "parse" ? carry : {}) as { fetchedBy?: string };
  const words = { "trawl.job.id": jobId, "trawl.task.id": taskId, "trawl.task.kind": kind, "trawl.attempt": attempt };
  return { jobId, taskId, partOf: fetchedBy, words };
}

/** A URL that came with its job waits since there is the job. When a link was found, or a try has failed, no grant says. */
function dueSince({ depth, attempt, redirects }: Grant, { submittedAt }: JobPlan): number | undefined {
  return depth === 0 && attempt === 1 && redirects === 0 ? submittedAt : undefined;
}

/** The address of a webhook is between its owner and us. */
function shownUrl({ kind, url, site }: Grant): string {
  return kind === "deliver" ? site : pageUrlOf(url);
}

/** As the semantic conventions of OpenTelemetry name them. */
function requestWords(url: string): SpanWords {
  const { hostname, port, protocol } = new URL(url);
  const usual = protocol === "https:" ? 443 : 80;
  return {
    "http.request.method": "GET",
    "url.full": url,
    "server.address": hostname,
    "server.port": port === "" ? usual : Number(port),
  };
}

function fetchEnd(outcome: FetchOutcome): SpanEnd {
  if (outcome.kind === "retry" || outcome.kind === "dead") {
    const { because, status, detail } = outcome;
    return { words: { "http.response.status_code": status }, failure: { kind: because, says: detail } };
  }
  const { status, bodyBytes } = outcome.page;
  return { words: { "http.response.status_code": status, "http.response.body.size": bodyBytes } };
}

function robotsEnd(answer: Awaited<ReturnType<RunTaskDeps["robots"]["rulesAt"]>>): SpanEnd {
  if (answer.kind !== "unreachable") return {};
  return { failure: { kind: "robots_unreachable", says: answer.detail } };
}

function deliverEnd({ outcome }: Awaited<ReturnType<RunTaskDeps["deliver"]>>): SpanEnd {
  if (outcome.kind !== "retry" && outcome.kind !== "dead") return {};
  const { because, status, detail } = outcome;
  return { words: { "http.response.status_code": status }, failure: { kind: because, says: detail } };
}
