/** What a crawl still has to tell when its last page is in: it waits for that, for a while. */

import { plural } from "../../domain/counted.ts";
import { hasEnded } from "../../domain/job.ts";
import { showable } from "../../runtime/showable.ts";
import { findDeliveryJobs, findWebhookView, type WebhookView } from "../../webhook/webhook-view.ts";
import type { Session } from "../session.ts";
import { type Screen, steps } from "../terminal.ts";
import { crawlQueue } from "./crawl-queue.ts";

const LOOK_EVERY_MS = 100;

/** Whoever waits longer wants to know for what. */
const SAY_AFTER_MS = 1_000;

/** Resolves when all is told, when it has taken too long, or when `signal` aborts. */
export async function untilTold(
  { trawl, config, screen }: Session,
  { jobId, quiet }: { jobId: string; quiet: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { store, frontier, clock } = trawl;
  const startedAt = clock.now();
  let isSaid = quiet;
  while (clock.now() - startedAt < config.webhookFarewellMs && !signal.aborted) {
    const webhook = await store.webhooks.find(jobId);
    if (webhook === undefined) return;
    if (webhook.lookAt === undefined) {
      const deliveries = await findDeliveryJobs(frontier, webhook);
      if (deliveries.every(({ state }) => hasEnded(state))) return;
    }
    if (!isSaid && clock.now() - startedAt > SAY_AFTER_MS) {
      isSaid = true;
      screen.err("the last page is in: delivering what there is to tell (Ctrl-C leaves it waiting)\n");
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}

/** What a person is told of it; nothing where nobody was to be told, or has been told everything. */
export async function undeliveredText({ trawl, screen }: Session, jobId: string): Promise<string> {
  const view = await findWebhookView({ book: trawl.store.webhooks, frontier: trawl.frontier }, jobId);
  if (view === undefined || (view.waiting === 0 && view.dead === 0 && view.lookAt === undefined)) return "";
  return words(view, screen);
}

function words(
  { jobId, host, waiting, dead, delivered, lastFailure, deliveryJobs }: WebhookView,
  screen: Screen,
): string {
  const why = lastFailure === undefined ? "" : `: ${showable(lastFailure.words)}`;
  const said = `webhook: ${plural(waiting + dead, "event")} not delivered to ${host}, ${delivered} delivered${why}\n`;
  const [last = ""] = deliveryJobs.slice(-1);
  const serve = `worker --queues ${crawlQueue(jobId)} --drain`;
  return said + steps(dead > 0 ? [["why", `dead ${last}`]] : [["deliver", serve]], screen);
}
