/** The Prometheus metrics of workers. docs/metrics.md is generated from them; a test compares the two. */
import { BLOCK_NAMES, BLOCK_STEPS } from "../../domain/block.ts";
import { DEAD_REASONS, REFUSE_REASONS, RETRY_REASONS } from "../../domain/task.ts";
import type { Declarations } from "../../runtime/metrics.ts";
import { PROCESS_METRICS } from "../../runtime/process-metrics.ts";

const KINDS = ["fetch", "render", "parse", "deliver"] as const;
/** Covers requests to a site on the same machine as well as to a slow site. */
const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
const SHORT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const;

/** The purpose of a request. */
export const FETCHED = ["page", "render", "robots"] as const;
/** The class of a status; `none` if there was no response. */
const STATUS_CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx", "none"] as const;
export const BROKER_CALLS = ["lease", "settle", "extend", "release"] as const;

/** `down`: the proxy does not work. `failed`: it, or the site, did not answer. */
export const PROXY_RESULTS = ["ok", "failed", "blocked", "down"] as const;

export const WORKER_METRICS = {
  trawl_tasks_total: {
    type: "counter",
    help: "Attempts that ended, by kind of task and outcome. `retry`: the task will run again. `dead`: the task failed permanently.",
    labels: { kind: KINDS, outcome: ["done", "retry", "dead", "refused"] },
  },
  trawl_task_seconds: {
    type: "histogram",
    help: "Time of an attempt, from lease to result.",
    labels: { kind: KINDS },
    buckets: SECONDS,
  },
  trawl_retries_total: {
    type: "counter",
    help: "Failed attempts that are retried, by reason.",
    labels: { reason: Object.keys(RETRY_REASONS) },
  },
  trawl_dead_total: {
    type: "counter",
    help: "Tasks that failed permanently, by reason.",
    labels: { reason: Object.keys(DEAD_REASONS) },
  },
  trawl_refused_total: {
    type: "counter",
    help: "Leased tasks that were not fetched, by reason.",
    labels: { reason: Object.keys(REFUSE_REASONS) },
  },
  trawl_pages_total: { type: "counter", help: "Pages that were fetched and processed." },
  trawl_page_bytes_total: { type: "counter", help: "Bytes of page bodies, after decompression." },
  trawl_records_total: { type: "counter", help: "Records that were extracted and valid." },
  trawl_records_invalid_total: {
    type: "counter",
    help: "Records that do not match their schema or lack a required field.",
  },
  trawl_links_total: { type: "counter", help: "Links sent to the frontier, including duplicates." },
  trawl_fetches_total: {
    type: "counter",
    help: "Requests, by purpose and status class.",
    labels: { of: FETCHED, status: STATUS_CLASSES },
  },
  trawl_blocks_total: {
    type: "counter",
    help: "Requests for pages whose last response was a block, by name of the block. Blocked requests that were sent again through another proxy are counted in `trawl_proxy_requests_total`.",
    labels: { block: BLOCK_NAMES },
  },
  trawl_block_steps_total: {
    type: "counter",
    help: "Steps after blocks, in jobs with `blocks`, by step. `fail`: no step was left.",
    labels: { step: [...BLOCK_STEPS, "fail"] },
  },
  trawl_proxy_requests_total: {
    type: "counter",
    help: "Requests through proxies and gateways, by result. `down`: the proxy does not work. `failed`: the proxy or the site did not answer.",
    labels: { result: PROXY_RESULTS },
  },
  trawl_fetch_seconds: {
    type: "histogram",
    help: "Duration of requests, including the wait for the rate of the site.",
    labels: { of: FETCHED },
    buckets: SECONDS,
  },
  trawl_extract_seconds: {
    type: "histogram",
    help: "Time to extract records and links from a page, with rules or a handler.",
    buckets: SHORT_SECONDS,
  },
  trawl_lease_batch_size: {
    type: "histogram",
    help: "Number of tasks that one lease call returned; may be 0.",
    buckets: [0, 1, 2, 4, 8, 16, 32, 64],
  },
  trawl_leases_lost_total: {
    type: "counter",
    help: "Results that were discarded because their lease had ended.",
  },
  trawl_broker_call_seconds: {
    type: "histogram",
    help: "Duration of calls to the broker.",
    labels: { call: BROKER_CALLS },
    buckets: SHORT_SECONDS,
  },
  trawl_broker_errors_total: {
    type: "counter",
    help: "Calls to the broker that failed after all retries.",
    labels: { call: BROKER_CALLS },
  },
  trawl_store_write_seconds: {
    type: "histogram",
    help: "Duration of writes to the store.",
    buckets: SHORT_SECONDS,
  },
  trawl_store_errors_total: { type: "counter", help: "Writes to the store that failed after all retries." },
  trawl_browser_launches_total: { type: "counter", help: "Browsers that were started." },
  trawl_browser_crashes_total: { type: "counter", help: "Browsers that crashed." },
  trawl_tasks_in_flight: { type: "gauge", help: "Running tasks." },
  trawl_worker_concurrency: { type: "gauge", help: "Maximum number of tasks that the processes run at once." },
} as const satisfies Declarations;

export type WorkerMetricName = keyof typeof WORKER_METRICS;

/** The metrics that a worker process reports to its supervisor. */
export const CHILD_METRICS = { ...WORKER_METRICS, ...PROCESS_METRICS } as const satisfies Declarations;

/** The metrics of the supervisor itself. */
export const POOL_METRICS = {
  trawl_worker_processes: {
    type: "gauge",
    help: "Worker processes of a supervisor. The server of `trawl up` is not counted.",
  },
  trawl_worker_process_starts_total: { type: "counter", help: "Worker processes that were started." },
  trawl_worker_process_ends_total: {
    type: "counter",
    help: "Worker processes that ended, by cause. `ended`: on request, or replaced after a limit on tasks or memory. `memory`: out of memory, or killed at twice its memory limit. `stuck`: blocked until its leases would expire. `stop_timeout`: did not stop in time. `unable`: reported an error that prevents all work.",
    labels: { how: ["ended", "crashed", "time_limit", "memory", "stuck", "stop_timeout", "unable"] },
  },
  trawl_worker_memory_limit_bytes: {
    type: "gauge",
    help: "Memory limit above which a process is replaced; missing without a limit.",
  },
} as const satisfies Declarations;
