/**
 * Records OpenTelemetry spans of each attempt (lease, robots, fetch, extract, store, settle) and, when the task has
 * ended, of the task itself. If tracing is off, it subscribes to nothing.
 */
import { pageUrlOf } from "../../domain/task-url.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import type { Grant } from "../../frontier/frontier.ts";
import type { SpanAttributes, SpanEnd, TaskTrace, Tracing } from "../../runtime/tracing.ts";
import type { JobPlan } from "../task/plan.ts";
import type { Attempt, SettledAttempt, StepResults, TaskObserver } from "./task-observer.ts";

/**
 * The maximum number of open tasks whose first lease is remembered. The span of an older task starts at its last lease.
 */
const REMEMBERED = 10_000;

type Traced = { trace: TaskTrace; beganAt: number };

export function createTaskTracer(tracing: Tracing): TaskObserver {
  if (!tracing.isOn) return {};
  const firstLeases = new Map<string, number>();
  /** Attempts of tasks that are sampled. */
  const traced = new WeakMap<Attempt, Traced>();

  function remember(key: string, leasedAt: number): number {
    const known = firstLeases.get(key);
    if (known !== undefined) return known;
    firstLeases.set(key, leasedAt);
    const [oldest] = firstLeases.size > REMEMBERED ? firstLeases.keys() : [];
    if (oldest !== undefined) firstLeases.delete(oldest);
    return leasedAt;
  }

  /** Records the spans of a settlement that has already ended. */
  function recordSettle(
    attempt: Attempt,
    { settlement: { outcome, tally }, times }: Omit<SettledAttempt, "state">,
    failure: SpanEnd["failure"],
  ): void {
    const found = traced.get(attempt);
    if (found === undefined) return;
    const { storeAt, settleAt, settledAt } = times;
    found.trace.past("store", { from: storeAt, to: settleAt, attributes: { "trawl.records": tally.records } });
    found.trace.past("settle", {
      from: settleAt,
      to: settledAt,
      attributes: { "trawl.outcome": outcome.kind },
      failure,
    });
  }

  function endTask(attempt: Attempt, { settlement, state, times }: SettledAttempt): void {
    const found = traced.get(attempt);
    if (found === undefined || state === "retry") return;
    firstLeases.delete(keyOf(attempt.grant));
    const { outcome, tally, discovered } = settlement;
    const isFailed = outcome.kind === "retry" || outcome.kind === "dead";
    const failure = isFailed && state === "dead" ? { kind: outcome.because, message: outcome.detail } : undefined;
    const counts = { "trawl.records": tally.records, "trawl.links": discovered.length };
    const attributes = { "url.full": shownUrl(attempt.grant), "trawl.outcome": state, ...counts };
    found.trace.end({ from: found.beganAt, to: times.settledAt, attributes, failure });
  }

  return {
    planned(attempt) {
      const { grant, plan, leasedAt } = attempt;
      if (plan === undefined) return;
      const trace = tracing.task({ requestId: plan.spec.requestId, ...tracedTask(grant) });
      if (trace === undefined) return;
      const waitedSince = dueSince(grant, plan) ?? leasedAt;
      traced.set(attempt, { trace, beganAt: remember(keyOf(grant), waitedSince) });
      trace.past("lease", { from: waitedSince, to: leasedAt, attributes: { "server.address": grant.site } });
    },
    settled(attempt, settled) {
      recordSettle(attempt, settled, undefined);
      endTask(attempt, settled);
    },
    // The span of the task is ended by the worker that holds the lease now.
    lost: (attempt, lost) => recordSettle(attempt, lost, LEASE_LOST),
    trace(attempt, name, target, work) {
      const found = traced.get(attempt);
      return found === undefined ? work() : found.trace.step(name, spanOptions(name, target), work, STEP_ENDS[name]);
    },
  };
}

const LEASE_LOST = { kind: "lease_lost", message: "another worker had leased the task" };

function keyOf({ jobId, taskId }: Grant): string {
  return `${jobId} ${taskId}`;
}

function spanOptions(name: keyof StepResults, target: string) {
  switch (name) {
    case "extract":
      return { kind: "internal", attributes: {} } as const;
    case "fetch":
    case "render":
      return { kind: "client", attributes: requestAttributes(target) } as const;
    case "robots":
    case "deliver":
      return { kind: "client", attributes: { "server.address": target } } as const;
  }
}

function tracedTask({ jobId, taskId, kind, attempt, carry }: Grant) {
  const { fetchedBy } = (kind === "parse" ? carry : {}) as { fetchedBy?: string };
  const attributes = {
    "trawl.job.id": jobId,
    "trawl.task.id": taskId,
    "trawl.task.kind": kind,
    "trawl.attempt": attempt,
  };
  return { jobId, taskId, partOf: fetchedBy, attributes };
}

/**
 * When the task became due: for a start URL, when its job was created. Undefined for links and retries, because a grant
 * does not contain that time.
 */
function dueSince({ depth, attempt, redirects }: Grant, { submittedAt }: JobPlan): number | undefined {
  return depth === 0 && attempt === 1 && redirects === 0 ? submittedAt : undefined;
}

/** The URL of a webhook may contain a secret, so only its host is recorded. */
function shownUrl({ kind, url, site }: Grant): string {
  return kind === "deliver" ? site : pageUrlOf(url);
}

/** The span attributes of a request, named as in the semantic conventions of OpenTelemetry. */
function requestAttributes(url: string): SpanAttributes {
  const { hostname, port, protocol } = new URL(url);
  const usual = protocol === "https:" ? 443 : 80;
  return {
    "http.request.method": "GET",
    "url.full": url,
    "server.address": hostname,
    "server.port": port === "" ? usual : Number(port),
  };
}

const STEP_ENDS: { [Name in keyof StepResults]: (result: StepResults[Name]) => SpanEnd } = {
  fetch: fetchEnd,
  render: fetchEnd,
  robots: (answer) =>
    answer.kind === "unreachable" ? { failure: { kind: "robots_unreachable", message: answer.detail } } : {},
  deliver({ outcome }) {
    if (outcome.kind !== "retry" && outcome.kind !== "dead") return {};
    const { because, status, detail } = outcome;
    return { attributes: { "http.response.status_code": status }, failure: { kind: because, message: detail } };
  },
  extract: ({ records, links }) => ({ attributes: { "trawl.records": records.length, "trawl.links": links.length } }),
};

function fetchEnd(outcome: FetchOutcome): SpanEnd {
  if (outcome.kind === "retry" || outcome.kind === "dead") {
    const { because, status, detail } = outcome;
    return { attributes: { "http.response.status_code": status }, failure: { kind: because, message: detail } };
  }
  const { status, bodyBytes } = outcome.page;
  return { attributes: { "http.response.status_code": status, "http.response.body.size": bodyBytes } };
}
