/** Conversion between webhooks and rows, shared by all backends. */
import type { WebhookEventType } from "../domain/webhook.ts";
import type { NewWebhook, StoredEvent, Webhook } from "./webhook-store.ts";

type Row = Readonly<Record<string, unknown>>;

export function newWebhookRow({ jobId, endpoint, secret, events, batchRecords, queue, createdAt }: NewWebhook) {
  return { jobId, endpoint, secret, events: events.join(" "), batchRecords, queue, createdAt };
}

export function toWebhook(row: Row): Webhook {
  return {
    jobId: String(row.job),
    endpoint: String(row.endpoint),
    secret: String(row.secret),
    events: String(row.events).split(" ") as WebhookEventType[],
    batchRecords: Number(row.batch_records),
    queue: String(row.queue),
    createdAt: Number(row.created_at),
    cursor: Number(row.cursor),
    nextEvent: Number(row.next_event),
    hasEnd: Number(row.has_end) === 1,
    round: Number(row.round),
    nextCheckAt: row.look_at === null ? undefined : Number(row.look_at),
    delivered: Number(row.delivered),
    lastDeliveredAt: row.last_delivered_at === null ? undefined : Number(row.last_delivered_at),
    lastFailure:
      row.failed_at === null ? undefined : { at: Number(row.failed_at), message: String(row.failure ?? "unknown") },
  };
}

export function toWebhookEvent(row: Row): StoredEvent {
  return {
    jobId: String(row.job),
    number: Number(row.number),
    type: row.type as WebhookEventType,
    text: String(row.text),
    madeAt: Number(row.made_at),
  };
}
