/** The metrics of a server. A test keeps docs/metrics.md equal to this list. */
import type { Declarations } from "../../runtime/metrics.ts";
import { PROCESS_METRICS } from "../../runtime/process-metrics.ts";

/** The maximum number of values of a label. It is larger than the number of routes. */
const ROUTES = { max: 200 };
const QUEUES = { max: 30 };

export const SERVER_METRICS = {
  trawl_http_requests_total: {
    type: "counter",
    help: "HTTP requests, by route pattern. `other`: unknown path.",
    labels: {
      method: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
      route: ROUTES,
      status: ["2xx", "3xx", "4xx", "5xx"],
    },
  },
  trawl_http_request_seconds: {
    type: "histogram",
    help: "Response time of HTTP requests, without event streams.",
    labels: { route: ROUTES },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  },
  trawl_event_followers: { type: "gauge", help: "Open event streams." },
  trawl_submitted_urls_total: {
    type: "counter",
    help: "URLs submitted to this server, by outcome.",
    labels: { outcome: ["queued", "duplicate", "refused"] },
  },
  trawl_schedule_occurrences_total: {
    type: "counter",
    help: "Occurrences of schedules that this server processed.",
    labels: { outcome: ["fired", "failed", "skipped"] },
  },
  trawl_broker_up: { type: "gauge", help: "1 if the broker responded within 2 seconds." },
  trawl_store_up: { type: "gauge", help: "1 if the store responded within 2 seconds." },
  trawl_queue_waiting: { type: "gauge", help: "URLs of all jobs that wait in a queue.", labels: { queue: QUEUES } },
  trawl_queue_workers: { type: "gauge", help: "Worker processes that serve a queue.", labels: { queue: QUEUES } },
  trawl_fleet_workers: { type: "gauge", help: "Worker processes that report to this broker." },
  trawl_fleet_in_flight: { type: "gauge", help: "Tasks in progress on all workers." },
  trawl_fleet_concurrency: { type: "gauge", help: "Maximum number of tasks that all workers together run at once." },
  trawl_fleet_pages_per_second: {
    type: "gauge",
    help: "Pages per second of all workers, over the last 5 to 10 seconds.",
  },
  trawl_fleet_tries_per_second: {
    type: "gauge",
    help: "Attempts per second of all workers, over the last 5 to 10 seconds. `failed`: the attempt ended without a page, and the task is retried or dead.",
    labels: { outcome: ["done", "failed"] },
  },
  trawl_dead_letters: {
    type: "gauge",
    help: "Dead letters in the broker. Replayed and discarded dead letters are not counted.",
  },
  trawl_webhook_events_pending: { type: "gauge", help: "Webhook events that are not delivered yet." },
} as const satisfies Declarations;

export type ServerMetricName = keyof typeof SERVER_METRICS;

/** All metrics of a server except the build info. */
export const ALL_SERVER_METRICS = { ...SERVER_METRICS, ...PROCESS_METRICS } as const satisfies Declarations;
