/** How a webhook stands: what the book knows, and what the frontier knows of its deliveries. */
import { deliveryJobId } from "../domain/webhook.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import type { Webhook, WebhookBook } from "../store/webhook-book.ts";

export type WebhookView = Webhook & {
  /** Of the endpoint: the rest of it may be a secret. */
  host: string;
  /** Events there have been. */
  told: number;
  waiting: number;
  dead: number;
  /** The jobs whose tasks its deliveries are, as far as there is something of them; the latest last. */
  deliveryJobs: readonly string[];
};

/** A job that ran again more often than this has had its events delivered long ago. */
const ROUNDS_MOST = 100;

export async function findWebhookView(
  { book, frontier }: { book: Pick<WebhookBook, "find">; frontier: Pick<FrontierAdmin, "findJob"> },
  jobId: string,
): Promise<WebhookView | undefined> {
  const webhook = await book.find(jobId);
  if (webhook === undefined) return undefined;
  const jobs = await findDeliveryJobs(frontier, webhook);
  const sum = (count: (job: JobView) => number) => jobs.reduce((all, job) => all + count(job), 0);
  const told = webhook.nextEvent - 1;
  const left = told - webhook.delivered;
  // Deliveries that ended long ago have left the broker: nobody tries them again.
  const isOver = webhook.lookAt === undefined && jobs.length === 0;
  const dead = isOver ? left : sum(({ counts }) => counts.dead + counts.cancelled + counts.refused);
  return {
    ...webhook,
    ...{ host: new URL(webhook.endpoint).host, told, dead },
    waiting: Math.max(0, left - dead), // those that are not queued yet included
    deliveryJobs: jobs.map(({ id }) => id),
  };
}

/** The jobs of its deliveries, as far as they are in the broker; the latest last. */
export async function findDeliveryJobs(frontier: Pick<FrontierAdmin, "findJob">, { jobId, round }: Webhook) {
  const rounds = Array.from({ length: Math.min(round, ROUNDS_MOST) }, (_, nth) => round - nth).reverse();
  const found = await Promise.all(rounds.map((nth) => frontier.findJob(deliveryJobId(jobId, nth))));
  return found.filter((job) => job !== undefined);
}
