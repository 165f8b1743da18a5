/** The settings of webhooks. */
import { count, duration, type Field, rate } from "./fields.ts";

export const WEBHOOK_SETTINGS = {
  webhookTimeoutMs: duration({
    env: "TRAWL_WEBHOOK_TIMEOUT",
    default: "15s",
    min: "100ms",
    max: "10m",
    doc: "Timeout for the response of a webhook endpoint.",
  }),
  webhookRetries: count({
    env: "TRAWL_WEBHOOK_RETRIES",
    default: 20,
    min: 0,
    max: 1000,
    doc: "Number of retries before a webhook event becomes a dead letter. With the default backoff, the retries take about two and a half hours. After status 410, there is no retry.",
  }),
  webhookBackoffMs: duration({
    env: "TRAWL_WEBHOOK_BACKOFF",
    default: "5s",
    min: "10ms",
    max: "10m",
    doc: "Wait before the first retry of a webhook event; it doubles with each further retry, up to 10 minutes.",
  }),
  webhookDrainMs: duration({
    env: "TRAWL_WEBHOOK_DRAIN",
    default: "30s",
    min: "0ms",
    max: "24h",
    doc: "How long `trawl crawl` waits, after its last page, for the delivery of its webhook events.",
  }),
  webhookRate: rate({
    env: "TRAWL_WEBHOOK_RATE",
    default: "10/s",
    doc: "Rate of webhook events posted to one host.",
  }),
  webhookPerHost: count({
    env: "TRAWL_WEBHOOK_PER_HOST",
    default: 4,
    min: 1,
    max: 1000,
    doc: "Maximum number of concurrent webhook requests to one host. It is also the number of events that may be sent to one host at once after a pause.",
  }),
  webhookFlushMs: duration({
    env: "TRAWL_WEBHOOK_FLUSH",
    default: "30s",
    min: "100ms",
    max: "24h",
    doc: "How long a record may wait for more records, so that they are sent in one webhook event.",
  }),
  webhookBytes: count({
    env: "TRAWL_WEBHOOK_BYTES",
    default: 1_000_000,
    min: 1000,
    max: 100_000_000,
    doc: "Maximum size in bytes of the records in one webhook event. A larger record is sent in an event of its own.",
  }),
} as const satisfies Record<string, Field<unknown>>;
