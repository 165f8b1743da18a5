/** Waits for the webhook deliveries of a crawl after its last page, for a limited time. */

import { plural } from "../../domain/format-number.ts";
import { hasEnded } from "../../domain/job.ts";
import { showable } from "../../runtime/showable.ts";
import { findDeliveryJobs, findWebhookView, type WebhookView } from "../../webhook/webhook-view.ts";
import type { CommandSession } from "../session.ts";
import { type Screen, steps } from "../terminal.ts";

const POLL_MS = 100;

/** After this time the crawl prints what it is waiting for. */
const NOTICE_AFTER_MS = 1_000;

/** Resolves when all events are delivered, after the timeout `webhookDrainMs`, or when `signal` aborts. */
export async function untilDelivered(
  { trawl, config, screen }: CommandSession,
  { jobId, quiet }: { jobId: string; quiet: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { store, frontier, clock } = trawl;
  const startedAt = clock.now();
  let isNoticed = quiet;
  while (clock.now() - startedAt < config.webhookDrainMs && !signal.aborted) {
    const webhook = await store.webhooks.find(jobId);
    if (webhook === undefined) return;
    if (webhook.nextCheckAt === undefined) {
      const deliveries = await findDeliveryJobs(frontier, webhook);
      if (deliveries.every(({ state }) => hasEnded(state))) return;
    }
    if (!isNoticed && clock.now() - startedAt > NOTICE_AFTER_MS) {
      isNoticed = true;
      screen.err("all pages are complete; delivering webhook events (after Ctrl-C, they stay queued)\n");
    }
    await clock.sleep(POLL_MS, signal);
  }
}

/** Reports events that were not delivered; empty without a webhook or after all deliveries. */
export async function undeliveredText({ trawl, screen }: CommandSession, jobId: string): Promise<string> {
  const view = await findWebhookView({ webhooks: trawl.store.webhooks, frontier: trawl.frontier }, jobId);
  if (view === undefined || (view.waiting === 0 && view.dead === 0 && view.nextCheckAt === undefined)) return "";
  return formatUndelivered(view, screen);
}

function formatUndelivered(
  { jobId, host, waiting, dead, delivered, lastFailure, deliveryJobs }: WebhookView,
  screen: Screen,
): string {
  const why = lastFailure === undefined ? "" : `: ${showable(lastFailure.message)}`;
  const summary = `webhook: ${plural(waiting + dead, "event")} not delivered to ${host}, ${delivered} delivered${why}\n`;
  const [last = ""] = deliveryJobs.slice(-1);
  return summary + steps([dead > 0 ? ["details", `dead ${last}`] : ["deliver", `crawl --resume ${jobId}`]], screen);
}
