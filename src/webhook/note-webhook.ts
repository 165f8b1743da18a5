/**
 * Notes whom a job is to tell, before the job is made, so that no event is missed: a crash in between leaves a note of a
 * job that is not there, which is forgotten after a while. Noting it again changes nothing, and is answered the same.
 */
import { DELIVER_QUEUE, USUAL_WEBHOOK_EVENTS } from "../domain/webhook.ts";
import type { Webhook, WebhookBook } from "../store/webhook-book.ts";
import type { WebhookInput } from "../submit/webhook-schema.ts";
import { newWebhookSecret } from "./secret.ts";

const BATCH_RECORDS = 100;

type Noted = {
  jobId: string;
  now: number;
  /** Where its deliveries wait, unless with all others. */
  queue?: string;
};

/** The secret, where the submitter has not given one: it is told this once. */
export async function noteWebhook(
  book: Pick<WebhookBook, "add">,
  input: WebhookInput | undefined,
  { jobId, now, queue = DELIVER_QUEUE }: Noted,
): Promise<string | undefined> {
  if (input === undefined) return undefined;
  const noted: Webhook = await book.add({
    jobId,
    endpoint: new URL(input.url).href,
    secret: input.secret ?? newWebhookSecret(),
    events: [...new Set(input.events ?? USUAL_WEBHOOK_EVENTS)],
    batchRecords: input.batch?.records ?? BATCH_RECORDS,
    queue,
    createdAt: now,
  });
  return input.secret === undefined ? noted.secret : undefined;
}
