/**
 * The frontier job whose tasks are the deliveries of a webhook. It is created with the first event and ends with the
 * last.
 */
import type { Config } from "../config/schema.ts";
import { siteOf } from "../domain/site.ts";
import type { NewTask } from "../domain/task.ts";
import { deliveryJobId, deliveryUrl } from "../domain/webhook.ts";
import type { NewJob } from "../frontier/frontier.ts";
import type { JobView } from "../frontier/frontier-admin.ts";
import type { Webhook } from "../store/webhook-store.ts";
import { newJobFrom } from "../submit/broker-intake.ts";
import { resolveJob } from "../submit/resolve-job.ts";
import { withTenant } from "../submit/with-tenant.ts";

/** The `carry` of a delivery task: the number of the event. The text of the event is only in the store. */
export type DeliveryCarry = { event: number };

/** The delivery job has the tenant and the request id of the job whose events it delivers. */
export function deliveryJob({ jobId, round, queue }: Webhook, { spec }: Pick<JobView, "spec">, config: Config): NewJob {
  const { requestId, tenant } = spec;
  const defaults = {
    ...config,
    rate: config.webhookRate,
    burst: config.webhookPerHost,
    perSite: config.webhookPerHost,
    robots: false, // the submitter of a webhook URL has allowed requests to it
    retries: config.webhookRetries,
    backoffMs: config.webhookBackoffMs,
  };
  const id = deliveryJobId(jobId, round);
  const context = { id, requestId, queue, typedHosts: [], out: undefined };
  const keep = { pages: false, records: false, bodies: false };
  const resolved = resolveJob({ name: `webhook of ${jobId}`, keep }, defaults, context);
  return newJobFrom(withTenant(resolved, tenant), 0); // it has no limits, so the time does not matter
}

/** More urgent than the default of 5, because receivers wait for events. */
const PRIORITY = 3;

export function deliveryTask({ endpoint, queue }: Webhook, event: number, config: Config): NewTask {
  const url = deliveryUrl(endpoint, event);
  const carry: DeliveryCarry = { event };
  return { url, site: siteOf(url, config.siteGrouping), kind: "deliver", queue, priority: PRIORITY, depth: 0, carry };
}
