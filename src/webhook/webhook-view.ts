/** The state of a webhook, from the store and from its delivery jobs in the frontier. */
import { deliveryJobId, deliveryOfJob } from "../domain/webhook.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import type { Webhook, WebhookStore } from "../store/webhook-store.ts";

export type WebhookView = Webhook & {
  /** The host of the endpoint. The rest of the URL may be secret. */
  host: string;
  /** Number of events created. */
  eventCount: number;
  waiting: number;
  dead: number;
  /** Ids of its delivery jobs that exist in the broker, the latest last. */
  deliveryJobs: readonly string[];
};

/** Only the latest rounds are read. The events of older rounds were delivered long ago. */
const MAX_ROUNDS = 100;

export async function findWebhookView(
  { webhooks, frontier }: { webhooks: Pick<WebhookStore, "find">; frontier: Pick<FrontierAdmin, "findJob"> },
  jobId: string,
): Promise<WebhookView | undefined> {
  const webhook = await webhooks.find(jobId);
  if (webhook === undefined) return undefined;
  const jobs = await findDeliveryJobs(frontier, webhook);
  const sum = (count: (job: JobView) => number) => jobs.reduce((all, job) => all + count(job), 0);
  const eventCount = webhook.nextEvent - 1;
  const left = eventCount - webhook.delivered;
  // Delivery jobs that ended long ago have left the broker. Events that they did not deliver are never sent.
  const isOver = webhook.nextCheckAt === undefined && jobs.length === 0;
  const dead = isOver ? left : sum(({ counts }) => counts.dead + counts.cancelled + counts.refused);
  return {
    ...webhook,
    ...{ host: new URL(webhook.endpoint).host, eventCount, dead },
    waiting: Math.max(0, left - dead), // includes events that are not queued yet
    deliveryJobs: jobs.map(({ id }) => id),
  };
}

/** Its delivery jobs that are in the broker, the latest last. */
export async function findDeliveryJobs(frontier: Pick<FrontierAdmin, "findJob">, { jobId, round }: Webhook) {
  const rounds = Array.from({ length: Math.min(round, MAX_ROUNDS) }, (_, nth) => round - nth).reverse();
  const found = await Promise.all(rounds.map((nth) => frontier.findJob(deliveryJobId(jobId, nth))));
  return found.filter((job) => job !== undefined);
}

/** Lists jobs without delivery jobs, newest first. */
export async function listSubmittedJobs(
  list: FrontierAdmin["listJobs"],
  limit: number,
  before?: { createdAt: number },
): Promise<readonly JobView[]> {
  const found: JobView[] = [];
  for (let from = before; ; ) {
    const page = await (from === undefined ? list(limit) : list(limit, from));
    found.push(...page.filter(({ id }) => deliveryOfJob(id) === undefined));
    const last = page.at(-1);
    if (last === undefined || page.length < limit || found.length >= limit) return found.slice(0, limit);
    from = { createdAt: last.createdAt };
  }
}
