/** Webhooks: the events that a job posts to a URL that its submitter chose. */

/** The end states of a job, and new records. */
export const WEBHOOK_EVENTS = ["job.finished", "job.failed", "job.cancelled", "records"] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** The default events: the end of the job. */
export const USUAL_WEBHOOK_EVENTS: readonly WebhookEventType[] = ["job.finished", "job.failed", "job.cancelled"];

/** The queue of deliveries. A `trawl crawl` uses its own queue instead. */
export const DELIVER_QUEUE = "deliver";

/**
 * The id of the delivery job of a job: its tasks deliver the events, with the retries, backoff, dead letters and
 * replays of ordinary tasks. A job that runs again after its end gets another delivery job, since the first has ended.
 */
export function deliveryJobId(jobId: string, round: number): string {
  return `wh${round}${jobId}`;
}

/** The job whose events a delivery job delivers; undefined for any other job. */
export function deliveryOfJob(jobId: string): string | undefined {
  return /^wh\d+(j\w+)$/.exec(jobId)?.[1];
}

/**
 * The URL of a delivery in the broker: the host of the endpoint without its path, which may be secret, and the event,
 * so that dedup accepts each event once.
 */
export function deliveryUrl(endpoint: string, event: number): string {
  return `${new URL(endpoint).origin}/#deliver-${event}`;
}
