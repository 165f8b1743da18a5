/** What servers count for Prometheus. docs/metrics.md has the same list, held equal by a test. */
import type { Declarations } from "../runtime/metrics.ts";
import { PROCESS_METRICS } from "../runtime/process-metrics.ts";

/** More than there are. */
const ROUTES = { most: 200 };
const QUEUES = { most: 30 };

export const SERVER_METRICS = {
  trawl_http_requests_total: {
    type: "counter",
    help: "Requests that were answered, by the pattern of their route; other: there is no such route.",
    labels: {
      method: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
      route: ROUTES,
      status: ["2xx", "3xx", "4xx", "5xx"],
    },
  },
  trawl_http_request_seconds: {
    type: "histogram",
    help: "How long answers took, streams of events left out.",
    labels: { route: ROUTES },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  },
  trawl_event_followers: { type: "gauge", help: "Streams of events that are open." },
  trawl_submitted_urls_total: {
    type: "counter",
    help: "URLs that were sent to this server, by what became of them.",
    labels: { outcome: ["queued", "duplicate", "refused"] },
  },
  trawl_schedule_slots_total: {
    type: "counter",
    help: "Slots of schedules that this server dealt with.",
    labels: { outcome: ["fired", "failed", "skipped"] },
  },
  trawl_broker_up: { type: "gauge", help: "1 if the broker answered within 2 seconds." },
  trawl_store_up: { type: "gauge", help: "The same of the store." },
  trawl_queue_waiting: { type: "gauge", help: "URLs that wait on a queue, of all jobs.", labels: { queue: QUEUES } },
  trawl_queue_workers: { type: "gauge", help: "Worker processes that serve a queue.", labels: { queue: QUEUES } },
  trawl_fleet_workers: { type: "gauge", help: "Worker processes on this broker, as they announce themselves." },
  trawl_fleet_in_flight: { type: "gauge", help: "Tasks that these have under way." },
  trawl_fleet_concurrency: { type: "gauge", help: "Tasks that these may have under way." },
  trawl_fleet_pages_per_second: { type: "gauge", help: "Pages that these read, over their last 5 to 10 seconds." },
  trawl_fleet_tries_per_second: {
    type: "gauge",
    help: "Tries that these brought to an end, over the same time; failed: without a page, to be tried again or given up on.",
    labels: { outcome: ["done", "failed"] },
  },
  trawl_dead_letters: { type: "gauge", help: "Dead letters that nobody has replayed or discarded." },
  trawl_webhook_events_pending: { type: "gauge", help: "Events of webhooks that are not delivered." },
} as const satisfies Declarations;

export type ServerMetricName = keyof typeof SERVER_METRICS;

/** All that `/metrics` of a server has, but for which build it is. */
export const ALL_SERVER_METRICS = { ...SERVER_METRICS, ...PROCESS_METRICS } as const satisfies Declarations;
