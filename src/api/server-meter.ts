/**
 * Counts what a server does, and looks at broker and store when it is asked: once for all who ask within a second, and for
 * no longer than Prometheus waits. Whatever is away is said to be, and has no numbers. Counts that take long say nothing of
 * who is away: they are made apart.
 */
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import { perSecond, recentOf } from "../frontier/worker-facts.ts";
import { exposeBuild } from "../runtime/build-metrics.ts";
import type { Clock } from "../runtime/clock.ts";
import { createMetrics, expose, type Metrics, OTHER } from "../runtime/metrics.ts";
import { createProcessMetrics } from "../runtime/process-metrics.ts";
import type { Service } from "../runtime/service.ts";
import type { ScheduleBook } from "../store/schedule-book.ts";
import type { Store, StoreBooks } from "../store/store.ts";
import { VERSION } from "../version.ts";
import { ALL_SERVER_METRICS, SERVER_METRICS, type ServerMetricName } from "./server-metrics.ts";
import { createSlowCount } from "./slow-count.ts";
import { queuesOut } from "./wire-fleet.ts";
import { paceOut } from "./wire-history.ts";
import { within } from "./within.ts";

export type ServerMeter = Service & {
  /** A request that was answered; `route` undefined where there is none. */
  answered(request: {
    method: string;
    route: string | undefined;
    status: number;
    ms: number;
    isFollowed: boolean;
  }): void;
  /** A stream of events was opened, or closed. */
  followed(change: 1 | -1): void;
  /** The same, with what is sent to it counted. */
  intake<F extends Pick<Frontier, "enqueue">>(frontier: F): F;
  /** The same, with its slots counted. */
  slots(book: ScheduleBook): ScheduleBook;
  /** As Prometheus reads it. */
  text(): Promise<string>;
};

type Deps = {
  frontier: Pick<FrontierAdmin, "listQueues" | "listWorkers" | "countDead">;
  store: Pick<StoreBooks, "webhooks"> & Pick<Store, "countRecords">;
  clock: Pick<Clock, "now">;
};

const FRESH_MS = 1_000;
/** Shorter than Prometheus waits for an answer. */
const PATIENCE_MS = 2_000;

export function createServerMeter(deps: Deps): ServerMeter {
  const metrics = createMetrics(SERVER_METRICS);
  const own = createProcessMetrics();
  const counts = {
    trawl_dead_letters: createSlowCount(() => deps.frontier.countDead(), PATIENCE_MS),
    trawl_webhook_events_pending: createSlowCount(() => deps.store.webhooks.countEvents(), PATIENCE_MS),
  };
  let followers = 0;
  let told: { at: number; text: Promise<string> } | undefined;

  async function look(): Promise<string> {
    const counting = Object.entries(counts).map(async ([name, count]) => {
      const counted = await count();
      metrics.clear(name as keyof typeof counts);
      if (counted !== undefined) metrics.set(name as keyof typeof counts, counted);
    });
    await Promise.all([lookAtBroker(metrics, deps), lookAtStore(metrics, deps), ...counting]);
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
      const enqueue: Frontier["enqueue"] = async (...words) => {
        const answer = await frontier.enqueue(...words);
        metrics.add("trawl_submitted_urls_total", answer.queued, "queued");
        metrics.add("trawl_submitted_urls_total", answer.duplicates, "duplicate");
        metrics.add("trawl_submitted_urls_total", answer.refused.length, "refused");
        return answer;
      };
      // Not a copy: all else stays the broker's own, and is found there whenever it is called.
      return Object.assign(Object.create(frontier) as typeof frontier, { enqueue });
    },
    slots: (book) => ({
      ...book,
      async settle(claim, fate, at) {
        const isOurs = await book.settle(claim, fate, at);
        if (isOurs) metrics.add("trawl_schedule_slots_total", 1, fate.state);
        return isOurs;
      },
    }),
    text() {
      const now = performance.now();
      if (told === undefined || now - told.at > FRESH_MS) told = { at: now, text: look() };
      return told.text;
    },
  };
}

async function lookAtBroker(metrics: Metrics<ServerMetricName>, { frontier, clock }: Deps): Promise<void> {
  const seen = await within(Promise.all([frontier.listQueues(), frontier.listWorkers()]), PATIENCE_MS);
  metrics.set("trawl_broker_up", seen === undefined ? 0 : 1);
  for (const name of BROKER_GAUGES) metrics.clear(name);
  if (seen === undefined) return;
  const [queues, workers] = seen;
  // Those with the most first: if there are more than the cap, the rest goes together.
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

/** One less than the cap of the label: `other` may be a queue's name. */
const QUEUES_SHOWN = SERVER_METRICS.trawl_queue_waiting.labels.queue.most - 1;

const BROKER_GAUGES = [
  "trawl_queue_waiting",
  "trawl_queue_workers",
  "trawl_fleet_workers",
  "trawl_fleet_in_flight",
  "trawl_fleet_concurrency",
  "trawl_fleet_pages_per_second",
  "trawl_fleet_tries_per_second",
] as const;

async function lookAtStore(metrics: Metrics<ServerMetricName>, { store }: Deps): Promise<void> {
  // Of a job that is not there: what /readyz asks, too.
  const answered = await within(store.countRecords("-"), PATIENCE_MS);
  metrics.set("trawl_store_up", answered === undefined ? 0 : 1);
}
