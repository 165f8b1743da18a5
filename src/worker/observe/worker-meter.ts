/**
 * Counts the work of a worker for Prometheus: as an observer of tasks, and around calls to the broker and the store.
 */
import type { DeadReason, RetryReason } from "../../domain/task.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import { createMetrics, type Metrics, type Snapshot } from "../../runtime/metrics.ts";
import type { Store } from "../../store/store.ts";
import type { Attempt, SettledAttempt, TaskObserver } from "./task-observer.ts";
import {
  type BROKER_CALLS,
  type FETCHED,
  type PROXY_RESULTS,
  WORKER_METRICS,
  type WorkerMetricName,
} from "./worker-metrics.ts";

type BrokerCall = (typeof BROKER_CALLS)[number];
type Fetched = (typeof FETCHED)[number];
/** A client that sends one request per call. A result without a status counts as no response. */
type Requester<Request, Answer> = { send(request: Request): Promise<Answer> };

export type WorkerMeter = {
  /** Wraps the frontier, and counts and times its calls. */
  broker(frontier: Pick<Frontier, BrokerCall>): Pick<Frontier, BrokerCall>;
  store(store: Pick<Store, "write">): Pick<Store, "write">;
  /** Wraps a client, and counts and times each of its requests. */
  ask<Request, Answer extends object>(client: Requester<Request, Answer>, of: "robots"): Requester<Request, Answer>;
  observer: TaskObserver;
  browser: { launched(): void; crashed(): void };
  /** A request went through a proxy or a gateway. */
  proxied(result: (typeof PROXY_RESULTS)[number]): void;
  snapshot(gauges: { inFlight: number; concurrency: number }): Snapshot;
};

export function createWorkerMeter(): WorkerMeter {
  const metrics = createMetrics(WORKER_METRICS);

  async function broker<T>(call: BrokerCall, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      metrics.add("trawl_broker_errors_total", 1, call);
      throw error;
    } finally {
      metrics.observe("trawl_broker_call_seconds", secondsSince(startedAt), call);
    }
  }

  function countFetch(of: Fetched, seconds: number, status: number | undefined): void {
    metrics.observe("trawl_fetch_seconds", seconds, of);
    metrics.add("trawl_fetches_total", 1, of, statusClass(status));
  }

  return {
    broker: (frontier) => ({
      async lease(request) {
        const answer = await broker("lease", () => frontier.lease(request));
        metrics.observe("trawl_lease_batch_size", answer.grants.length);
        return answer;
      },
      async settle(settlements) {
        const answer = await broker("settle", () => frontier.settle(settlements));
        for (const state of answer.states) if (state === "stale") metrics.add("trawl_leases_lost_total", 1);
        return answer;
      },
      extend: (claims, leaseMs) => broker("extend", () => frontier.extend(claims, leaseMs)),
      release: (claims) => broker("release", () => frontier.release(claims)),
    }),
    store: (store) => ({
      async write(...batch) {
        const startedAt = performance.now();
        try {
          return await store.write(...batch);
        } catch (error) {
          metrics.add("trawl_store_errors_total", 1);
          throw error;
        } finally {
          metrics.observe("trawl_store_write_seconds", secondsSince(startedAt));
        }
      },
    }),
    ask: (client, of) => ({
      async send(request) {
        const startedAt = performance.now();
        const answer = await client.send(request);
        countFetch(of, secondsSince(startedAt), statusOfAnswer(answer));
        return answer;
      },
    }),
    observer: {
      fetched(_, { step, outcome, startedAt, endedAt }) {
        countFetch(step === "fetch" ? "page" : "render", (endedAt - startedAt) / 1000, statusOfPage(outcome));
        if (outcome.kind === "retry" && outcome.block !== undefined)
          metrics.add("trawl_blocks_total", 1, outcome.block);
      },
      steppedAfterBlock: (_, step) => metrics.add("trawl_block_steps_total", 1, step),
      read: (_, { startedAt, endedAt }) => metrics.observe("trawl_extract_seconds", (endedAt - startedAt) / 1000),
      settled: (attempt, settled) => countSettled(metrics, attempt, settled),
    },
    browser: {
      launched: () => metrics.add("trawl_browser_launches_total", 1),
      crashed: () => metrics.add("trawl_browser_crashes_total", 1),
    },
    proxied: (result) => metrics.add("trawl_proxy_requests_total", 1, result),
    snapshot({ inFlight, concurrency }) {
      metrics.set("trawl_tasks_in_flight", inFlight);
      metrics.set("trawl_worker_concurrency", concurrency);
      return metrics.snapshot();
    },
  };
}

function countSettled(
  metrics: Metrics<WorkerMetricName>,
  { grant, leasedAt, endedAt }: Attempt,
  { settlement: { outcome, tally, discovered }, state }: SettledAttempt,
): void {
  // A failed attempt of a stopped job is counted by its outcome, which is `retry`.
  const label = state === "cancelled" ? outcome.kind : state;
  metrics.add("trawl_tasks_total", 1, grant.kind, label);
  metrics.observe("trawl_task_seconds", (endedAt - leasedAt) / 1000, grant.kind);
  if (outcome.kind === "done") {
    metrics.add("trawl_pages_total", tally.pages);
    metrics.add("trawl_page_bytes_total", tally.bytes);
    metrics.add("trawl_records_total", tally.records);
    metrics.add("trawl_records_invalid_total", tally.invalid);
    metrics.add("trawl_links_total", discovered.length);
  } else if (outcome.kind === "refused") metrics.add("trawl_refused_total", 1, outcome.because);
  else if (label === "retry") metrics.add("trawl_retries_total", 1, outcome.because satisfies RetryReason | DeadReason);
  else metrics.add("trawl_dead_total", 1, outcome.kind === "dead" ? outcome.because : "retries_spent");
}

function statusOfPage(outcome: FetchOutcome): number | undefined {
  return "page" in outcome ? outcome.page.status : outcome.status;
}

function statusOfAnswer(answer: object): number | undefined {
  return "status" in answer ? Number(answer.status) : undefined;
}

function statusClass(status: number | undefined): string {
  return status === undefined ? "none" : `${Math.floor(status / 100)}xx`;
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
