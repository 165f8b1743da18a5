/**
 * Counts requests and submissions of a server, and reads gauges from broker and store when the metrics are requested.
 * Requests within a second share one read. A read has a timeout that is shorter than that of Prometheus. An unreachable
 * broker or store is reported as down, and its gauges are omitted. Slow counts are read separately, so that a reachable
 * broker is not reported as down because of a slow count.
 */
import { queuesOut } from "../../control/views/fleet.ts";
import { paceOut } from "../../control/views/history.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import type { FrontierAdmin } from "../../frontier/frontier-admin.ts";
import { perSecond, recentOf } from "../../frontier/worker-facts.ts";
import { exposeBuild } from "../../runtime/build-metrics.ts";
import type { Clock } from "../../runtime/clock.ts";
import { createMetrics, expose, type Metrics, OTHER } from "../../runtime/metrics.ts";
import { createProcessMetrics } from "../../runtime/process-metrics.ts";
import type { Service } from "../../runtime/service.ts";
import type { ScheduleStore } from "../../store/schedule-store.ts";
import type { ControlStores, Store } from "../../store/store.ts";
import { VERSION } from "../../version.ts";
import { createCachedCount, resultWithin } from "./cached-count.ts";
import { ALL_SERVER_METRICS, SERVER_METRICS, type ServerMetricName } from "./server-metrics.ts";

export type ServerMeter = Service & {
  /** Counts a response. `route` is undefined for an unknown path. */
  answered(request: {
    method: string;
    route: string | undefined;
    status: number;
    ms: number;
    isFollowed: boolean;
  }): void;
  /** Counts an event stream that was opened (1) or closed (-1). */
  followed(change: 1 | -1): void;
  /** A frontier that counts submitted URLs. */
  intake<F extends Pick<Frontier, "enqueue">>(frontier: F): F;
  /** A schedule store that counts settled occurrences. */
  occurrences(schedules: ScheduleStore): ScheduleStore;
  /** The metrics in Prometheus text format. */
  text(): Promise<string>;
};

type Deps = {
  frontier: Pick<FrontierAdmin, "listQueues" | "listWorkers" | "countDead">;
  store: Pick<ControlStores, "webhooks"> & Pick<Store, "countRecords">;
  clock: Pick<Clock, "now">;
};

/** Metrics are collected at most once in this time. */
const FRESH_MS = 1_000;
/** Shorter than the scrape timeout of Prometheus. */
const READ_TIMEOUT_MS = 2_000;

export function createServerMeter(deps: Deps): ServerMeter {
  const metrics = createMetrics(SERVER_METRICS);
  const own = createProcessMetrics();
  const counts = {
    trawl_dead_letters: createCachedCount(() => deps.frontier.countDead(), READ_TIMEOUT_MS),
    trawl_webhook_events_pending: createCachedCount(() => deps.store.webhooks.countEvents(), READ_TIMEOUT_MS),
  };
  let followers = 0;
  let rendered: { at: number; text: Promise<string> } | undefined;

  async function render(): Promise<string> {
    const counting = Object.entries(counts).map(async ([name, count]) => {
      const counted = await count();
      metrics.clear(name as keyof typeof counts);
      if (counted !== undefined) metrics.set(name as keyof typeof counts, counted);
    });
    await Promise.all([readBroker(metrics, deps), readStore(metrics, deps), ...counting]);
    metrics.set("trawl_event_followers", followers);
    return expose(ALL_SERVER_METRICS, { ...metrics.snapshot(), ...own.snapshot() }) + exposeBuild(VERSION);
  }

  return {
    start: own.start,
    stop: own.stop,
    answered({ method, route = OTHER, status, ms, isFollowed }) {
      metrics.add("trawl_http_requests_total", 1, method, route, `${Math.floor(status / 100)}xx`);
      if (!isFollowed) metrics.observe("trawl_http_request_seconds", ms / 1000, route);
    },
    followed(change) {
      followers += change;
    },
    intake(frontier) {
      const enqueue: Frontier["enqueue"] = async (...args) => {
        const result = await frontier.enqueue(...args);
        metrics.add("trawl_submitted_urls_total", result.queued, "queued");
        metrics.add("trawl_submitted_urls_total", result.duplicates, "duplicate");
        metrics.add("trawl_submitted_urls_total", result.refused.length, "refused");
        return result;
      };
      // Inherits from `frontier` instead of copying it, so that all its other methods are available.
      return Object.assign(Object.create(frontier) as typeof frontier, { enqueue });
    },
    occurrences: (schedules) => ({
      ...schedules,
      async settle(claim, outcome, at) {
        const isOurs = await schedules.settle(claim, outcome, at);
        if (isOurs) metrics.add("trawl_schedule_occurrences_total", 1, outcome.state);
        return isOurs;
      },
    }),
    text() {
      const now = performance.now();
      if (rendered === undefined || now - rendered.at > FRESH_MS) rendered = { at: now, text: render() };
      return rendered.text;
    },
  };
}

async function readBroker(metrics: Metrics<ServerMetricName>, { frontier, clock }: Deps): Promise<void> {
  const views = await resultWithin(Promise.all([frontier.listQueues(), frontier.listWorkers()]), READ_TIMEOUT_MS);
  metrics.set("trawl_broker_up", views === undefined ? 0 : 1);
  for (const name of BROKER_GAUGES) metrics.clear(name);
  if (views === undefined) return;
  const [queues, workers] = views;
  // The longest queues first. Queues beyond the limit are summed under one label.
  const known = queuesOut(queues, workers).sort((one, other) => other.waiting - one.waiting);
  const rest = known.splice(QUEUES_SHOWN);
  for (const { queue, waiting, workers: serving } of known) {
    metrics.set("trawl_queue_waiting", waiting, queue);
    metrics.set("trawl_queue_workers", serving, queue);
  }
  if (rest.length > 0) {
    metrics.set(
      "trawl_queue_waiting",
      rest.reduce((sum, { waiting }) => sum + waiting, 0),
      OTHER,
    );
  }
  const now = clock.now();
  const { inFlight, pagesPerSecond } = paceOut(queues, workers, now);
  const recents = recentOf(workers, now);
  for (const outcome of ["done", "failed"] as const) {
    metrics.set("trawl_fleet_tries_per_second", perSecond(outcome, recents), outcome);
  }
  metrics.set("trawl_fleet_workers", workers.length);
  metrics.set("trawl_fleet_in_flight", inFlight);
  metrics.set(
    "trawl_fleet_concurrency",
    workers.reduce((sum, { vitals }) => sum + (vitals?.concurrency ?? 0), 0),
  );
  metrics.set("trawl_fleet_pages_per_second", pagesPerSecond);
}

/** One less than the maximum number of label values, because `other` is one of them. */
const QUEUES_SHOWN = SERVER_METRICS.trawl_queue_waiting.labels.queue.max - 1;

const BROKER_GAUGES = [
  "trawl_queue_waiting",
  "trawl_queue_workers",
  "trawl_fleet_workers",
  "trawl_fleet_in_flight",
  "trawl_fleet_concurrency",
  "trawl_fleet_pages_per_second",
  "trawl_fleet_tries_per_second",
] as const;

async function readStore(metrics: Metrics<ServerMetricName>, { store }: Deps): Promise<void> {
  // A cheap query for a job id that does not exist, as in /readyz.
  const count = await resultWithin(store.countRecords("-"), READ_TIMEOUT_MS);
  metrics.set("trawl_store_up", count === undefined ? 0 : 1);
}
