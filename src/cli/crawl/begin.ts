/** Starts a crawl: resolves the job and submits it to the broker. */
import { checkRules } from "../../compose/extractor.ts";
import { crawlQueue } from "../../domain/crawl-queue.ts";
import { type JobSpec, mayRender } from "../../domain/job-spec.ts";
import { TrawlError } from "../../errors.ts";
import { getChromium } from "../../fetch/browser/find-chromium.ts";
import { traceSubmission } from "../../runtime/tracing.ts";
import { completeList, submitList } from "../../submit/broker-intake.ts";
import { newJobId, newRequestId, resolveJob } from "../../submit/resolve-job.ts";
import type { SubmitAnswer } from "../../submit/submit-urls.ts";
import { urlOfEntry } from "../../submit/url-entry.ts";
import type { WebhookInput } from "../../submit/webhook-schema.ts";
import { registerWebhook } from "../../webhook/register-webhook.ts";
import type { CommandSession } from "../session.ts";
import type { Target } from "./targets.ts";

/** At most this many hosts of the start URLs are exempt from the private network check. */
const MAX_HOSTS = 1000;

/** Flags that become part of the job, in addition to the flags of the target. */
type SpecFlags = { out?: string | undefined; requestId?: string | undefined };

export async function beginCrawl(
  session: CommandSession,
  target: Target | undefined,
  { out, requestId }: SpecFlags,
): Promise<JobSpec> {
  if (target === undefined)
    throw new TrawlError("BAD_USAGE", {
      op: "cli.crawl",
      message: "nothing to crawl; pass a URL, a spider, a job or a URL list",
    });
  const spec = specOf(session, target, { out, requestId });
  // A bad selector or a missing browser is reported before anything is queued.
  checkRules(spec);
  if (mayRender(spec)) getChromium(session.config.chromium);
  await submitAll(session, spec, target);
  return spec;
}

/** Stores the job's webhook. A generated secret is printed at once, because it cannot be shown later. */
async function storeWebhook(
  { trawl, screen }: CommandSession,
  webhook: WebhookInput | undefined,
  job: { jobId: string; queue?: string },
): Promise<string | undefined> {
  const secret = await registerWebhook(trawl.store.webhooks, webhook, { ...job, now: trawl.clock.now() });
  if (secret !== undefined) screen.err(`webhook secret (shown only once): ${secret}\n`);
  return secret;
}

/** The job of a target. Every crawl has its own queue. */
export function specOf(
  { config, trawl }: CommandSession,
  { job, urls }: Target,
  { out, requestId }: SpecFlags,
): JobSpec {
  const now = trawl.clock.now();
  const id = newJobId(now);
  const typedHosts = hostsOf(urls);
  return resolveJob(job, config, {
    id,
    requestId: requestId ?? newRequestId(now),
    queue: crawlQueue(id),
    parseQueue: crawlQueue(id),
    typedHosts,
    out,
  });
}

/** The hosts of the URLs that the user gave. */
export function hostsOf(urls: readonly string[]): string[] {
  return [...new Set(urls.map((entry) => new URL(urlOfEntry(entry)).hostname))].slice(0, MAX_HOSTS);
}

/** Creates the crawl's job and queues its URLs. Throws BROKER_FULL if the broker has too many pending URLs. */
async function submitAll(session: CommandSession, spec: JobSpec, { job, urls }: Target): Promise<void> {
  const { frontier, catalogue, clock, requestBodies } = session.trawl;
  const { id, queue } = spec;
  const deps = {
    ...{ frontier, lookUp: catalogue.lookUp, now: clock.now, requestBodies },
    admit: async () => {},
    addWebhook: () => storeWebhook(session, job.webhook, { jobId: id, queue }),
  };
  await traced(session, spec, urls, () => submitList(deps, spec, urls, "never"));
}

/**
 * Queues the URLs of a crawl whose submission was interrupted. Known URLs count as duplicates. Throws BROKER_FULL as
 * well.
 */
export function continueSubmission(session: CommandSession, spec: JobSpec, urls: readonly string[]): Promise<void> {
  return traced(session, spec, urls, () => completeList(session.trawl, spec, urls));
}

async function traced(
  { trawl }: CommandSession,
  { id, requestId }: JobSpec,
  urls: readonly string[],
  submit: () => Promise<SubmitAnswer>,
): Promise<void> {
  const attributes = { "trawl.job.id": id };
  const { full, accepted, duplicates } = await traceSubmission(
    await trawl.openTracing(),
    { requestId, attributes },
    submit,
  );
  if (full === undefined) return;
  const taken = accepted + duplicates;
  throw new TrawlError("BROKER_FULL", {
    op: "cli.crawl",
    message: `the broker is full: it accepted ${taken} of ${urls.length} URLs; raise TRAWL_MAX_PENDING and run again with the same URLs and --resume`,
    detail: { taken },
  });
}
