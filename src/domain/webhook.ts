/** What a job tells of itself to an address that its submitter named. */

/** The ends a job may come to, and records as they come. */
export const WEBHOOK_EVENTS = ["job.finished", "job.failed", "job.cancelled", "records"] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** What is told unless the job says otherwise: how it ended. */
export const USUAL_WEBHOOK_EVENTS: readonly WebhookEventType[] = ["job.finished", "job.failed", "job.cancelled"];

/** Where deliveries wait, but for those of a crawl, which works on its own. */
export const DELIVER_QUEUE = "deliver";

/**
 * The job whose tasks are the deliveries of another one's events: what retries, back-off, dead letters and replays there
 * are for pages, there are for them. A job that runs again after its end has another, since this one ends with it.
 */
export function deliveryJobId(jobId: string, round: number): string {
  return `wh${round}${jobId}`;
}

/** The job that such a job tells of; undefined for any other. */
export function toldJobId(jobId: string): string | undefined {
  return /^wh\d+(j\w+)$/.exec(jobId)?.[1];
}

/**
 * What a delivery is called in the broker: the endpoint's host, and nothing of its path, which may be a secret. One for
 * each event, so that exact dedup lets it in once.
 */
export function deliveryUrl(endpoint: string, event: number): string {
  return `${new URL(endpoint).origin}/#deliver-${event}`;
}
