/** The job in the frontier whose tasks are a webhook's deliveries. It is made with the first, and ends with the last. */
import type { Config } from "../config/schema.ts";
import { siteOf } from "../domain/site.ts";
import type { NewTask } from "../domain/task.ts";
import { deliveryJobId, deliveryUrl } from "../domain/webhook.ts";
import type { NewJob } from "../frontier/frontier.ts";
import type { JobView } from "../frontier/frontier-admin.ts";
import type { Webhook } from "../store/webhook-book.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import { resolveJob } from "../submit/resolve-job.ts";
import { newJobFrom } from "../submit/submit-job.ts";
import { withTenant } from "../submit/with-tenant.ts";

/** All that the broker knows of an event: which. */
export type DeliveryCarry = { event: number };

/** Under the tenant and the request of the job that it tells of. */
export function deliveryJob({ jobId, round, queue }: Webhook, { spec }: Pick<JobView, "spec">, config: Config): NewJob {
  const { requestId = "-", tenant } = spec as Partial<JobSpec>;
  const defaults = {
    ...config,
    rate: config.webhookRate,
    burst: config.webhookPerHost,
    perSite: config.webhookPerHost,
    robots: false, // who gives an address to be told at has allowed it
    retries: config.webhookRetries,
    backoffMs: config.webhookBackoffMs,
  };
  const id = deliveryJobId(jobId, round);
  const context = { id, requestId, queue, typedHosts: [], out: undefined };
  const keep = { pages: false, records: false, bodies: false };
  const resolved = resolveJob({ name: `webhook of ${jobId}`, keep }, defaults, context);
  return newJobFrom(withTenant(resolved, tenant), 0); // it has no limits: its time does not matter
}

/** More urgent than most pages: somebody waits for it. */
const PRIORITY = 3;

export function deliveryTask({ endpoint, queue }: Webhook, event: number, config: Config): NewTask {
  const url = deliveryUrl(endpoint, event);
  const carry: DeliveryCarry = { event };
  return { url, site: siteOf(url, config.siteGrouping), kind: "deliver", queue, priority: PRIORITY, depth: 0, carry };
}
