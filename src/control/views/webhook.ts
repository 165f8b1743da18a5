/** The state of a job's webhook as the API returns it and as `--json` prints it. */
import type { WEBHOOK_EVENTS } from "../../domain/webhook.ts";
import type { WebhookView } from "../../webhook/webhook-view.ts";

export type WebhookOut = {
  job: string;
  host: string;
  events: (typeof WEBHOOK_EVENTS)[number][];
  state: "open" | "closed";
  eventCount: number;
  delivered: number;
  waiting: number;
  dead: number;
  lastDeliveredAt: string | null;
  lastFailure: { at: string; detail: string } | null;
  deliveryJobs: string[];
};

export function webhookOut(view: WebhookView): WebhookOut {
  const { jobId, host, events, nextCheckAt, eventCount, delivered, waiting, dead, lastDeliveredAt, lastFailure } = view;
  return {
    ...{ job: jobId, host, events: [...events], state: nextCheckAt === undefined ? "closed" : "open" },
    ...{ eventCount, delivered, waiting, dead },
    lastDeliveredAt: lastDeliveredAt === undefined ? null : isoOf(lastDeliveredAt),
    lastFailure: lastFailure === undefined ? null : { at: isoOf(lastFailure.at), detail: lastFailure.message },
    deliveryJobs: [...view.deliveryJobs],
  };
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
