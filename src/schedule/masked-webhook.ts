/** The secret of a schedule's webhook: who gave it knows it, and nobody else is to see it. */
import type { JobInput } from "../submit/job-schema.ts";

/** The job as it may be shown. */
export function withoutWebhookSecret<T extends Pick<JobInput, "webhook">>(job: T): T {
  if (job.webhook === undefined) return job;
  const { secret: _, ...webhook } = job.webhook;
  return { ...job, webhook };
}

/** A job that comes back as it was shown has the secret that it had, as long as it goes to the same endpoint. */
export function withKeptWebhookSecret<T extends Pick<JobInput, "webhook">>(job: T, before: JobInput): T {
  const { webhook } = job;
  const known = before.webhook;
  if (webhook === undefined || webhook.secret !== undefined || webhook.url !== known?.url) return job;
  return { ...job, webhook: { ...webhook, secret: known.secret } };
}
