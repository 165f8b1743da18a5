/**
 * Delivers one event: reads its text from the store, signs it and posts it. Workers call it for tasks of the kind
 * `deliver`, many at once. A delivered event is marked in the store before its task is settled. After a crash in
 * between, the task runs again and finds nothing to send. After a crash between the response and the mark, the event is
 * sent again, with the same id and the same text.
 */
import { backoffCauseOf } from "../domain/backoff.ts";
import { deliveryOfJob } from "../domain/webhook.ts";
import type { Poster, PostOutcome } from "../fetch/poster.ts";
import type { Grant, Settlement, TaskOutcome } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { StoredEvent, Webhook, WebhookStore } from "../store/webhook-store.ts";
import type { DeliveryCarry } from "./delivery-job.ts";
import { signatureOf } from "./secret.ts";

type Delivery = Pick<Settlement, "outcome" | "site">;

type Deps = {
  webhooks: Pick<WebhookStore, "find" | "findEvent" | "markDelivered" | "recordFailure">;
  poster: Poster;
  clock: Clock;
};

export function createDeliverer(
  { webhooks, poster, clock }: Deps,
  { timeoutMs }: { timeoutMs: number },
): (grant: Grant, signal: AbortSignal) => Promise<Delivery> {
  function send(grant: Grant, webhook: Webhook, event: StoredEvent, signal: AbortSignal): Promise<PostOutcome> {
    const id = eventId(event);
    const timestamp = Math.floor(clock.now() / 1000); // the time of this attempt: receivers reject old ones
    return poster.post({
      url: webhook.endpoint,
      site: grant.site,
      timeoutMs,
      headers: {
        accept: "*/*",
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": signatureOf(webhook.secret, { id, timestamp, text: event.text }),
      },
      body: event.text,
      signal,
    });
  }

  return async (grant, signal) => {
    const jobId = deliveryOfJob(grant.jobId) ?? "";
    const { event: number } = grant.carry as DeliveryCarry;
    const [webhook, event] = await Promise.all([webhooks.find(jobId), webhooks.findEvent(jobId, number)]);
    if (webhook === undefined) return { outcome: { kind: "refused", because: "job_ended" }, site: UNKNOWN }; // removed
    if (event === undefined) return { outcome: { kind: "done" }, site: UNKNOWN }; // delivered by an earlier lease
    const outcome = judge(await send(grant, webhook, event, signal));
    if (outcome.kind === "done") await webhooks.markDelivered(jobId, number, clock.now());
    else if ("detail" in outcome) await webhooks.recordFailure(jobId, clock.now(), outcome.detail ?? outcome.because);
    return { outcome, site: siteSignal(outcome) };
  };
}

/** Every attempt to deliver an event sends the same id. */
function eventId({ jobId, number }: Pick<StoredEvent, "jobId" | "number">): string {
  return `evt_${jobId}_${number}`;
}

const UNKNOWN = { kind: "unknown" } as const;
const GONE = 410;
const THROTTLED = [429, 503];

/** All failures are retried, because the receiver may fix them. The exceptions are status 410 and a refused address. */
function judge(outcome: PostOutcome): TaskOutcome {
  if (outcome.kind === "retry") return outcome;
  if (outcome.kind === "dead") {
    return outcome.because === "egress_refused" ? outcome : { ...outcome, kind: "retry", because: "network" };
  }
  const { status, retryAfterMs } = outcome;
  if (status >= 200 && status < 300) return { kind: "done" };
  const detail = `the endpoint answered ${status}`;
  if (status === GONE) return { kind: "dead", because: "http_status", status, detail: `${detail} (Gone)` };
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (THROTTLED.includes(status)) return { kind: "retry", because: "throttled", status, detail, ...wait };
  const isRedirect = status >= 300 && status < 400;
  const because = status >= 500 ? "server_error" : "not_accepted";
  return { kind: "retry", because, status, detail: isRedirect ? `${detail}; redirects are not followed` : detail };
}

function siteSignal(outcome: TaskOutcome): Settlement["site"] {
  if (outcome.kind === "done") return { kind: "ok" };
  if (outcome.kind !== "retry" || outcome.because !== "throttled") return UNKNOWN;
  const { retryAfterMs, status } = outcome;
  const cause = backoffCauseOf(status);
  return {
    kind: "throttled",
    ...(cause === undefined ? {} : { cause }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
