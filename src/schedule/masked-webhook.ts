/** Hides the webhook secret of a schedule. */
import type { JobInput } from "../submit/job-schema.ts";

/** The job as it is shown to users. */
export function withoutWebhookSecret<T extends Pick<JobInput, "webhook">>(job: T): T {
  if (job.webhook === undefined) return job;
  const { secret: _, ...webhook } = job.webhook;
  return { ...job, webhook };
}

/** Restores the secret of a job that a user sends back as it was shown, if the endpoint is the same. */
export function withKeptWebhookSecret<T extends Pick<JobInput, "webhook">>(job: T, before: JobInput): T {
  const { webhook } = job;
  const known = before.webhook;
  if (webhook === undefined || webhook.secret !== undefined || webhook.url !== known?.url) return job;
  return { ...job, webhook: { ...webhook, secret: known.secret } };
}
