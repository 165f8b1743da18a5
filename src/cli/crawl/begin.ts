/** Begins a crawl: the job as resolved, submitted to the broker. */
import { extractorOf } from "../../compose-extractor.ts";
import { TrawlError } from "../../errors.ts";
import { getChromium } from "../../fetch/browser/find-chromium.ts";
import { traceSubmission } from "../../runtime/tracing.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { newJobId, newRequestId, resolveJob } from "../../submit/resolve-job.ts";
import { submitJob } from "../../submit/submit-job.ts";
import { noteWebhookHere } from "../note-webhook.ts";
import type { Session } from "../session.ts";
import { crawlQueue } from "./crawl-queue.ts";
import type { Target } from "./targets.ts";

/** Hosts that a crawl's URLs may name as the person's own, at most. */
const HOSTS_MOST = 1000;

/** What the command line adds to a target. */
export type SpecFlags = { out?: string | undefined; requestId?: string | undefined };

export async function beginCrawl(
  session: Session,
  target: Target | undefined,
  { out, requestId }: SpecFlags,
): Promise<JobSpec> {
  if (target === undefined)
    throw new TrawlError("BAD_USAGE", { op: "cli.crawl", message: "nothing to crawl: give a URL" });
  const spec = specOf(session, target, { out, requestId });
  extractorOf(spec); // a bad selector is said before anything is queued
  if (spec.render !== "never") getChromium(session.config.chromium); // and so is a browser that is not there
  await noteWebhookHere(session, target.job.webhook, { jobId: spec.id, queue: spec.queue });
  await submitAll(session, spec, target.urls);
  return spec;
}

/** The target as a job of its own. */
export function specOf({ config, trawl }: Session, { job, urls }: Target, { out, requestId }: SpecFlags): JobSpec {
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

/** The hosts a person typed. */
export function hostsOf(urls: readonly string[]): string[] {
  return [...new Set(urls.map((url) => new URL(url).hostname))].slice(0, HOSTS_MOST);
}

/** Queues a crawl's URLs. Doing it again is harmless: known ones are duplicates. */
export async function submitAll({ trawl }: Session, spec: JobSpec, urls: readonly string[]): Promise<void> {
  const { frontier, clock } = trawl;
  const { id, requestId } = spec;
  const words = { "trawl.job.id": id };
  const answer = await traceSubmission(await trawl.openTracing(), { requestId, words }, () =>
    submitJob({ frontier, now: clock.now }, spec, urls),
  );
  if (answer.full === undefined) return;
  throw new TrawlError("BROKER_FULL", {
    op: "cli.crawl",
    message: `the broker took ${answer.full.taken} of ${urls.length} URLs and is full; raise TRAWL_MAX_PENDING and run again with the same URLs and --resume`,
    detail: { taken: answer.full.taken },
  });
}
