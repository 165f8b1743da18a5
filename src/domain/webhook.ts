/** What a job tells of itself to an address that its submitter named. */

/** The ends a job may come to, and records as they come. */
export const WEBHOOK_EVENTS = ["job.finished", "job.failed", "job.cancelled", "records"] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** What is told unless the job says otherwise: how it ended. */
export const USUAL_WEBHOOK_EVENTS: readonly WebhookEventType[] = ["job.finished", "job.failed", "job.cancelled"];
