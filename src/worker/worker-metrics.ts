/** What workers count for Prometheus. docs/metrics.md has the same list, held equal by a test. */
import { DEAD_REASONS, REFUSE_REASONS, RETRY_REASONS } from "../domain/task.ts";
import type { Declarations } from "../runtime/metrics.ts";
import { PROCESS_METRICS } from "../runtime/process-metrics.ts";

const KINDS = ["fetch", "render", "parse", "deliver"] as const;
/** From what a site on the same machine takes to what a slow one does. */
const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
const SHORT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const;

/** What a fetch was for. */
export const FETCHED = ["page", "render", "robots"] as const;
/** The hundred of a status; `none`: there was no answer. */
export const STATUS_CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx", "none"] as const;
export const BROKER_CALLS = ["lease", "settle", "extend", "release"] as const;

export const WORKER_METRICS = {
  trawl_tasks_total: {
    type: "counter",
    help: "Leases that ended, by what was to be done and how it went; a retry is tried again, dead is given up on.",
    labels: { kind: KINDS, outcome: ["done", "retry", "dead", "refused"] },
  },
  trawl_task_seconds: {
    type: "histogram",
    help: "From lease to result.",
    labels: { kind: KINDS },
    buckets: SECONDS,
  },
  trawl_retries_total: {
    type: "counter",
    help: "Tries that are made again, by why.",
    labels: { reason: Object.keys(RETRY_REASONS) },
  },
  trawl_dead_total: {
    type: "counter",
    help: "Tasks that were given up on, by why.",
    labels: { reason: Object.keys(DEAD_REASONS) },
  },
  trawl_refused_total: {
    type: "counter",
    help: "URLs that were not fetched when their turn came, by why.",
    labels: { reason: Object.keys(REFUSE_REASONS) },
  },
  trawl_pages_total: { type: "counter", help: "Pages that were read." },
  trawl_page_bytes_total: { type: "counter", help: "Bodies of these, after decompression." },
  trawl_records_total: { type: "counter", help: "Records that were kept." },
  trawl_records_invalid_total: { type: "counter", help: "Records that failed their schema." },
  trawl_links_total: { type: "counter", help: "Links found and offered to the frontier, duplicates included." },
  trawl_fetches_total: {
    type: "counter",
    help: "Requests, by what they were for and the class of the answer.",
    labels: { of: FETCHED, status: STATUS_CLASSES },
  },
  trawl_fetch_seconds: {
    type: "histogram",
    help: "How long these took, waiting for their slot included.",
    labels: { of: FETCHED },
    buckets: SECONDS,
  },
  trawl_extract_seconds: { type: "histogram", help: "Reading a page, by rules or a handler.", buckets: SHORT_SECONDS },
  trawl_lease_batch_size: {
    type: "histogram",
    help: "Tasks that one call for work brought; 0: there was none.",
    buckets: [0, 1, 2, 4, 8, 16, 32, 64],
  },
  trawl_leases_lost_total: {
    type: "counter",
    help: "Results that came after their lease had ended, and did not count.",
  },
  trawl_broker_call_seconds: {
    type: "histogram",
    help: "Calls to the broker.",
    labels: { call: BROKER_CALLS },
    buckets: SHORT_SECONDS,
  },
  trawl_broker_errors_total: {
    type: "counter",
    help: "Calls to the broker that failed for good.",
    labels: { call: BROKER_CALLS },
  },
  trawl_store_write_seconds: { type: "histogram", help: "Writes of pages and records.", buckets: SHORT_SECONDS },
  trawl_store_errors_total: { type: "counter", help: "Writes to the store that failed for good." },
  trawl_browser_launches_total: { type: "counter", help: "Browsers that were started." },
  trawl_browser_crashes_total: { type: "counter", help: "Browsers that ended by themselves." },
  trawl_tasks_in_flight: { type: "gauge", help: "Tasks under way." },
  trawl_worker_concurrency: { type: "gauge", help: "Tasks that may be under way at once." },
} as const satisfies Declarations;

export type WorkerMetricName = keyof typeof WORKER_METRICS;

/** What a worker process tells its supervisor. */
export const CHILD_METRICS = { ...WORKER_METRICS, ...PROCESS_METRICS } as const satisfies Declarations;

/** What the supervisor itself knows. */
export const POOL_METRICS = {
  trawl_worker_processes: {
    type: "gauge",
    help: "Processes that a supervisor keeps; the server of `trawl up` is one of them.",
  },
  trawl_worker_process_starts_total: { type: "counter", help: "Processes that were started." },
  trawl_worker_process_ends_total: {
    type: "counter",
    help: "Processes that ended: as they should (asked to, or after their share of tasks or memory), or of what.",
    labels: { how: ["ended", "crashed", "time_limit", "memory", "stuck", "stop_timeout", "unable"] },
  },
  trawl_worker_memory_limit_bytes: {
    type: "gauge",
    help: "Memory past which a process is replaced, where there is a limit.",
  },
} as const satisfies Declarations;
