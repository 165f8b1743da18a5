/** The part of the settings that is about telling others how jobs go. */
import { count, duration, type Field, rate } from "./fields.ts";

export const WEBHOOK_SETTINGS = {
  webhookTimeoutMs: duration({
    env: "TRAWL_WEBHOOK_TIMEOUT",
    shown: "15s",
    least: "100ms",
    most: "10m",
    doc: "Longest time the endpoint of a webhook may take to answer.",
  }),
  webhookRetries: count({
    env: "TRAWL_WEBHOOK_RETRIES",
    shown: 20,
    least: 0,
    most: 1000,
    doc: "Tries after the first one before an event of a webhook is a dead letter; with the usual back-off they take about two hours.",
  }),
  webhookBackoffMs: duration({
    env: "TRAWL_WEBHOOK_BACKOFF",
    shown: "5s",
    least: "10ms",
    most: "10m",
    doc: "Wait before the second try of an event of a webhook; it doubles with every further one, up to 10 minutes.",
  }),
  webhookFarewellMs: duration({
    env: "TRAWL_WEBHOOK_FAREWELL",
    shown: "30s",
    least: "0ms",
    most: "24h",
    doc: "How long `trawl crawl` waits at its end for the events of its webhook to be delivered.",
  }),
  webhookRate: rate({
    env: "TRAWL_WEBHOOK_RATE",
    shown: "10/s",
    doc: "Events posted to one host.",
  }),
  webhookPerHost: count({
    env: "TRAWL_WEBHOOK_PER_HOST",
    shown: 4,
    least: 1,
    most: 1000,
    doc: "Events posted to one host at once.",
  }),
  webhookFlushMs: duration({
    env: "TRAWL_WEBHOOK_FLUSH",
    shown: "30s",
    least: "100ms",
    most: "24h",
    doc: "How long a record waits for more to be told of with it in one event of a webhook.",
  }),
  webhookBytes: count({
    env: "TRAWL_WEBHOOK_BYTES",
    shown: 1_000_000,
    least: 1000,
    most: 100_000_000,
    doc: "Size of the records in one event of a webhook, unless a single one is larger.",
  }),
} as const satisfies Record<string, Field<unknown>>;
