/**
 * Delivers one event: reads its text from the store, signs it, posts it. Called by workers for tasks of the kind `deliver`,
 * many at once. An event that was delivered is marked so in the store before the task is settled: after a crash in between
 * the task runs again, and finds nothing left to send. A crash between the answer and the mark has it sent again, under
 * the same id and with the same text.
 */
import { toldJobId } from "../domain/webhook.ts";
import type { Poster, PostOutcome } from "../fetch/poster.ts";
import type { Grant, Settlement, TaskOutcome } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Webhook, WebhookBook, WebhookEvent } from "../store/webhook-book.ts";
import type { DeliveryCarry } from "./delivery-job.ts";
import { signatureOf } from "./secret.ts";

export type Delivery = Pick<Settlement, "outcome" | "site">;

type Deps = {
  book: Pick<WebhookBook, "find" | "findEvent" | "markDelivered" | "noteFailure">;
  poster: Poster;
  clock: Clock;
};

export function createDeliverer(
  { book, poster, clock }: Deps,
  { timeoutMs }: { timeoutMs: number },
): (grant: Grant, signal: AbortSignal) => Promise<Delivery> {
  function send(grant: Grant, webhook: Webhook, event: WebhookEvent, signal: AbortSignal): Promise<PostOutcome> {
    const id = eventId(event);
    const timestamp = Math.floor(clock.now() / 1000); // of this try: receivers refuse what is old
    return poster.post({
      url: webhook.endpoint,
      site: grant.site,
      slot: grant.slot,
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
    const jobId = toldJobId(grant.jobId) ?? "";
    const { event: number } = grant.carry as DeliveryCarry;
    const [webhook, event] = await Promise.all([book.find(jobId), book.findEvent(jobId, number)]);
    if (webhook === undefined) return { outcome: { kind: "refused", because: "job_ended" }, site: UNKNOWN }; // removed
    if (event === undefined) return { outcome: { kind: "done" }, site: UNKNOWN }; // delivered by an earlier lease
    const outcome = judge(await send(grant, webhook, event, signal));
    if (outcome.kind === "done") await book.markDelivered(jobId, number, clock.now());
    else if ("detail" in outcome) await book.noteFailure(jobId, clock.now(), outcome.detail ?? outcome.because);
    return { outcome, site: siteSignal(outcome) };
  };
}

/** The same for every try of an event. */
export function eventId({ jobId, number }: Pick<WebhookEvent, "jobId" | "number">): string {
  return `evt_${jobId}_${number}`;
}

const UNKNOWN = { kind: "unknown" } as const;
const GONE = 410;
const THROTTLED = [429, 503];

/** Whoever owns the endpoint may mend all but what it says is gone for good, and what we must not send to. */
function judge(outcome: PostOutcome): TaskOutcome {
  if (outcome.kind === "retry") return outcome;
  if (outcome.kind === "dead") {
    return outcome.because === "egress_refused" ? outcome : { ...outcome, kind: "retry", because: "network" };
  }
  const { status, retryAfterMs } = outcome;
  if (status >= 200 && status < 300) return { kind: "done" };
  const detail = `the endpoint answered ${status}`;
  if (status === GONE) return { kind: "dead", because: "http_status", status, detail: `${detail}: it is gone` };
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (THROTTLED.includes(status)) return { kind: "retry", because: "throttled", status, detail, ...wait };
  const isRedirect = status >= 300 && status < 400;
  const words = isRedirect ? `${detail}; redirects are not followed` : detail;
  return { kind: "retry", because: status >= 500 ? "server_error" : "not_accepted", status, detail: words };
}

function siteSignal(outcome: TaskOutcome): Settlement["site"] {
  if (outcome.kind === "done") return { kind: "ok" };
  if (outcome.kind !== "retry" || outcome.because !== "throttled") return UNKNOWN;
  const { retryAfterMs } = outcome;
  return retryAfterMs === undefined ? { kind: "throttled" } : { kind: "throttled", retryAfterMs };
}
