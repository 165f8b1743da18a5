/**
 * Adds the webhook of a job to the store, before the job is created, so that no event is missed. A crash in between
 * leaves a webhook without a job, which a notifier removes after an hour. Adding it again changes nothing and returns
 * the same secret.
 */
import { DELIVER_QUEUE, USUAL_WEBHOOK_EVENTS } from "../domain/webhook.ts";
import type { Webhook, WebhookStore } from "../store/webhook-store.ts";
import type { WebhookInput } from "../submit/webhook-schema.ts";
import { newWebhookSecret } from "./secret.ts";

const BATCH_RECORDS = 100;

type Registration = {
  jobId: string;
  now: number;
  /** The queue of its deliveries, if not the default. */
  queue?: string;
};

/** Returns the generated secret if the submitter gave none. Later calls of the API do not show it. */
export async function registerWebhook(
  webhooks: Pick<WebhookStore, "add">,
  input: WebhookInput | undefined,
  { jobId, now, queue = DELIVER_QUEUE }: Registration,
): Promise<string | undefined> {
  if (input === undefined) return undefined;
  const webhook: Webhook = await webhooks.add({
    jobId,
    endpoint: new URL(input.url).href,
    secret: input.secret ?? newWebhookSecret(),
    events: [...new Set(input.events ?? USUAL_WEBHOOK_EVENTS)],
    batchRecords: input.batch?.records ?? BATCH_RECORDS,
    queue,
    createdAt: now,
  });
  return input.secret === undefined ? webhook.secret : undefined;
}
