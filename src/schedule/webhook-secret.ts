/** Removes the webhook secret from a schedule's job for output, and restores it on update. */
import type { JobInput } from "../submit/job-schema.ts";

/** The job as users see it. */
export function withoutWebhookSecret<T extends Pick<JobInput, "webhook">>(job: T): T {
  if (job.webhook === undefined) return job;
  const { secret: _, ...webhook } = job.webhook;
  return { ...job, webhook };
}

/** Restores the secret in a job that a user sends without it, if the endpoint is unchanged. */
export function restoreWebhookSecret<T extends Pick<JobInput, "webhook">>(job: T, previous: JobInput): T {
  const { webhook } = job;
  const known = previous.webhook;
  if (webhook === undefined || webhook.secret !== undefined || webhook.url !== known?.url) return job;
  return { ...job, webhook: { ...webhook, secret: known.secret } };
}
