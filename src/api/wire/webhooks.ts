/** Schema of a job's webhook. Instants are ISO 8601 in UTC. Unknown values are null, never missing. */
import { z } from "zod";
import type { WebhookOut } from "../../control/views/webhook.ts";
import { WEBHOOK_EVENTS } from "../../domain/webhook.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();

export const webhookSchemaOut = z.strictObject({
  job: z.string(),
  host: z.string().describe("The host of the endpoint. Its path and the secret are not shown."),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  state: z.enum(["open", "closed"]).describe("closed: the job has ended, and there are no more events."),
  eventCount: count.describe("The number of events so far: delivered + waiting + dead."),
  delivered: count,
  waiting: count.describe("Events that wait for delivery or a retry."),
  dead: count.describe(
    "Events that failed. GET /v1/dead?job= with one of deliveryJobs shows why; POST /v1/dead/replay sends them again.",
  ),
  lastDeliveredAt: instant.nullable(),
  lastFailure: z.strictObject({ at: instant, detail: z.string() }).nullable().describe("The last failed attempt."),
  deliveryJobs: z.array(z.string()).describe("The internal jobs that deliver the events."),
}) satisfies z.ZodType<WebhookOut>;
