/** Counts what a worker does, for Prometheus, where it passes by: nothing of the work knows of it. */
import type { DeadReason, RetryReason } from "../domain/task.ts";
import type { Fetcher, FetchOutcome } from "../fetch/fetcher.ts";
import type { Frontier } from "../frontier/frontier.ts";
import { createMetrics, type Metrics, type Snapshot } from "../runtime/metrics.ts";
import type { Store } from "../store/store.ts";
import type { ToldResult } from "./teller.ts";
import { type BROKER_CALLS, type FETCHED, WORKER_METRICS, type WorkerMetricName } from "./worker-metrics.ts";

type BrokerCall = (typeof BROKER_CALLS)[number];
type Fetched = (typeof FETCHED)[number];
/** An answer that has no status is none. */
type Asked<Request, Answer> = { ask(request: Request): Promise<Answer> };

export type WorkerMeter = {
  /** The same, with its calls counted and timed. */
  broker(frontier: Pick<Frontier, BrokerCall>): Pick<Frontier, BrokerCall>;
  store(store: Pick<Store, "write">): Pick<Store, "write">;
  fetch<F extends Fetcher>(fetcher: F, of: Exclude<Fetched, "robots">): F;
  /** What asks for one URL at a time and follows nothing: each of its requests is counted. */
  ask<Request, Answer extends object>(client: Asked<Request, Answer>, of: "robots"): Asked<Request, Answer>;
  /** Times the reading of a page. */
  read<T>(work: () => T | Promise<T>): Promise<T>;
  settled(result: Pick<ToldResult, "settlement" | "step" | "fate" | "tookMs">): void;
  browser: { launched(): void; crashed(): void };
  snapshot(standing: { inFlight: number; concurrency: number }): Snapshot;
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

  async function timed<T>(of: Fetched, request: () => Promise<T>, statusOf: (outcome: T) => number | undefined) {
    const startedAt = performance.now();
    const outcome = await request();
    metrics.observe("trawl_fetch_seconds", secondsSince(startedAt), of);
    metrics.add("trawl_fetches_total", 1, of, statusClass(statusOf(outcome)));
    return outcome;
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
        for (const verdict of answer.verdicts) if (verdict === "stale") metrics.add("trawl_leases_lost_total", 1);
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
    fetch: (fetcher, of) => ({
      ...fetcher,
      fetch: (request) => timed(of, () => fetcher.fetch(request), statusOfPage),
    }),
    ask: (client, of) => ({
      ask: (request) => timed(of, () => client.ask(request), statusOfAnswer),
    }),
    async read(work) {
      const startedAt = performance.now();
      try {
        return await work();
      } finally {
        metrics.observe("trawl_extract_seconds", secondsSince(startedAt));
      }
    },
    settled: (result) => countEnd(metrics, result),
    browser: {
      launched: () => metrics.add("trawl_browser_launches_total", 1),
      crashed: () => metrics.add("trawl_browser_crashes_total", 1),
    },
    snapshot({ inFlight, concurrency }) {
      metrics.set("trawl_tasks_in_flight", inFlight);
      metrics.set("trawl_worker_concurrency", concurrency);
      return metrics.snapshot();
    },
  };
}

function countEnd(
  metrics: Metrics<WorkerMetricName>,
  { settlement, step, fate, tookMs }: Parameters<WorkerMeter["settled"]>[0],
): void {
  const { outcome, tally, discovered } = settlement;
  metrics.add("trawl_tasks_total", 1, step, fate);
  metrics.observe("trawl_task_seconds", tookMs / 1000, step);
  if (outcome.kind === "done") {
    metrics.add("trawl_pages_total", tally.pages);
    metrics.add("trawl_page_bytes_total", tally.bytes);
    metrics.add("trawl_records_total", tally.records);
    metrics.add("trawl_records_invalid_total", tally.invalid);
    metrics.add("trawl_links_total", discovered.length);
  } else if (outcome.kind === "refused") metrics.add("trawl_refused_total", 1, outcome.because);
  else if (fate === "retry") metrics.add("trawl_retries_total", 1, outcome.because satisfies RetryReason | DeadReason);
  // A retry after the last one is the end, and the frontier will say so too.
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
