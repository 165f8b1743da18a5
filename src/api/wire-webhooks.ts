/** What the API says of a job's webhook. Instants are ISO 8601 in UTC; what is not known is null, never missing. */
import { z } from "zod";
import { WEBHOOK_EVENTS } from "../domain/webhook.ts";
import type { WebhookView } from "../webhook/webhook-view.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();

export const webhookSchemaOut = z.strictObject({
  job: z.string(),
  host: z.string().describe("Of the endpoint; its path and the secret are not shown."),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  state: z.enum(["open", "closed"]).describe("closed: the job has ended, and there is nothing more to tell."),
  told: count.describe("Events there have been: delivered + waiting + dead."),
  delivered: count,
  waiting: count.describe("To be delivered, or tried again."),
  dead: count.describe(
    "Given up on: GET /v1/dead?job= with one of deliveryJobs says why, POST /v1/dead/replay sends them again.",
  ),
  lastDeliveredAt: instant.nullable(),
  lastFailure: z.strictObject({ at: instant, detail: z.string() }).nullable().describe("The latest try that failed."),
  deliveryJobs: z.array(z.string()).describe("The jobs whose tasks its deliveries are."),
});

export type WebhookOut = z.output<typeof webhookSchemaOut>;

export function webhookOut(view: WebhookView): WebhookOut {
  const { jobId, host, events, lookAt, told, delivered, waiting, dead, lastDeliveredAt, lastFailure } = view;
  return {
    ...{ job: jobId, host, events: [...events], state: lookAt === undefined ? "closed" : "open" },
    ...{ told, delivered, waiting, dead },
    lastDeliveredAt: lastDeliveredAt === undefined ? null : isoOf(lastDeliveredAt),
    lastFailure: lastFailure === undefined ? null : { at: isoOf(lastFailure.at), detail: lastFailure.words },
    deliveryJobs: [...view.deliveryJobs],
  };
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
