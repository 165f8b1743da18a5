/**
 * Submissions over HTTP: new jobs, and URLs for existing jobs. If a response is lost, the client may repeat the
 * request. With an idempotency key, the repeated request creates no second job.
 */
import type { z } from "zod";
import type { Caller } from "../../control/caller.ts";
import { quotaError } from "../../control/quota/quota-error.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import { TrawlError } from "../../errors.ts";
import { createBrokerIntake, existingJobIntake } from "../../submit/broker-intake.ts";
import { firstTasks } from "../../submit/first-tasks.ts";
import { digestJob } from "../../submit/job-digest.ts";
import type { jobSchema } from "../../submit/job-schema.ts";
import { jobIdOfKey, KEY_TAKES, newJobId, parseJob, resolveJob } from "../../submit/resolve-job.ts";
import { type Intake, inBatches, MAX_REFUSALS, type SubmitAnswer, submitUrls } from "../../submit/submit-urls.ts";
import { startEntries } from "../../submit/url-entry.ts";
import { withTenant } from "../../submit/with-tenant.ts";
import { registerWebhook } from "../../webhook/register-webhook.ts";
import type { ApiDeps } from "../api-deps.ts";
import type { SubmissionOut } from "../wire/jobs.ts";
import { readLines } from "./read-lines.ts";
import { spiderInFolder } from "./spider-in-folder.ts";

type NewJobBody = z.output<typeof jobSchema> & { open?: boolean | undefined };
type Counts = Omit<SubmissionOut, "requestId">;

/**
 * Creates a job and queues its URLs. Throws BROKER_FULL or QUOTA_REACHED; the error contains the number of URLs taken.
 */
export async function submitJob(
  deps: ApiDeps,
  { open = false, ...body }: NewJobBody,
  { caller, requestId, key }: { caller: Caller; requestId: string; key: string | string[] | undefined },
): Promise<Counts & { requestId: string; webhookSecret: string | null }> {
  const { frontier, catalogue, store, quotas, clock, config, requestBodies } = deps;
  const urls = startEntries(body);
  if (urls.length === 0 && !open) throw noUrls();
  const id = key === undefined ? newJobId(clock.now()) : idOf(key, caller);
  const job = withSpiderPath(parseJob(body), config);
  const context = { id, requestId, queue: undefined, typedHosts: [], out: undefined };
  const spec: JobSpec = {
    ...withTenant(resolveJob(job, config, context), caller.tenant),
    ...(key === undefined ? {} : { digest: digestJob(job, urls, { isWhole: !open }) }),
  };
  deps.checkRules(spec);
  const intake = createBrokerIntake(
    {
      ...{ frontier, lookUp: catalogue.lookUp, now: clock.now, requestBodies },
      async admit() {
        if (urls.length > 0) await quotas.check(caller);
        await quotas.admitJob(caller, id);
      },
      addWebhook: () => registerWebhook(store.webhooks, job.webhook, { jobId: id, now: clock.now() }),
    },
    spec,
    key === undefined ? "never" : "key",
  );
  const result = await submitOrThrow(deps, intake, inBatches(urls, intake.maxBatch), { caller, seals: !open });
  const counts = result.isNew && !result.isKnown ? countsOf(result) : firstCounts(spec, urls, config);
  return { ...counts, requestId: result.requestId, webhookSecret: result.webhookSecret };
}

/** Queues more URLs of a job, from a list or a stream of lines. Throws like `submitJob`. */
export async function addUrls(
  deps: Pick<ApiDeps, "frontier" | "quotas" | "requestBodies">,
  spec: JobSpec,
  source: readonly string[] | AsyncIterable<Uint8Array>,
  { caller, isLast, signal }: { caller: Caller; isLast: boolean; signal?: AbortSignal },
): Promise<Counts> {
  const intake = existingJobIntake(deps, spec);
  const batches =
    Symbol.asyncIterator in source
      ? readLines(source, intake.maxBatch, deps.requestBodies.settings)
      : inBatches(source, intake.maxBatch);
  const result = await submitOrThrow(deps, intake, batches, { caller, seals: isLast, signal });
  signal?.throwIfAborted();
  return countsOf(result);
}

async function submitOrThrow(
  { quotas }: Pick<ApiDeps, "quotas">,
  intake: Intake,
  batches: AsyncIterable<readonly string[]>,
  { caller, seals, signal = NEVER }: { caller: Caller; seals: boolean; signal?: AbortSignal | undefined },
): Promise<SubmitAnswer> {
  const budget = quotas.budgetOf(caller);
  const result = await submitUrls(intake, batches, {
    ...{ isEager: true, seals, whenFull: "return", budget, signal },
    onProgress: () => {},
  });
  // A generated secret is returned only once, so the error also contains it if not all URLs were taken.
  const secret = result.webhookSecret === null ? {} : { webhookSecret: result.webhookSecret };
  const { refused: _, ...progress } = countsOf(result);
  if (result.full !== undefined) throw brokerFull({ ...progress, ...secret }, result.full.retryAfterMs);
  const reached = result.isWhole ? undefined : budget?.reached();
  if (reached !== undefined) throw quotaError(caller, reached, { ...progress, ...secret });
  return result;
}

const NEVER = new AbortController().signal;

function countsOf({ id, accepted, duplicates, refused, refusedCount, taken }: SubmitAnswer): Counts {
  return { id, accepted, duplicates, refused: [...refused], refusedCount, taken };
}

/** The counts for a repeated request: those of the first response, which the client may not have received. */
function firstCounts(spec: JobSpec, urls: readonly string[], settings: ApiDeps["config"]): Counts {
  const { tasks, refused } = firstTasks(spec, urls, settings);
  const accepted = new Set(tasks.map(({ url }) => url)).size;
  const duplicates = tasks.length - accepted;
  return {
    ...{ id: spec.id, accepted, duplicates, refusedCount: refused.length, taken: urls.length },
    refused: refused.slice(0, MAX_REFUSALS),
  };
}

/** Replaces the name of a spider by the path from which workers load it. Throws BAD_SPIDER. */
export function withSpiderPath<Job extends { spider?: string | undefined }>(
  job: Job,
  { apiSpiders }: Pick<ApiDeps["config"], "apiSpiders">,
): Job {
  return job.spider === undefined ? job : { ...job, spider: spiderInFolder(job.spider, apiSpiders) };
}

function idOf(key: string | string[], { tenant = "" }: Caller): string {
  const id = typeof key === "string" ? jobIdOfKey(key, tenant) : undefined;
  if (id !== undefined) return id;
  throw new TrawlError("BAD_REQUEST", { op: "api.submit", message: `Idempotency-Key: takes one key of ${KEY_TAKES}` });
}

function noUrls(): TrawlError {
  return new TrawlError("BAD_JOB", {
    op: "api.submit",
    message:
      "urls: the job has no URLs and would end at once; add URLs or a list of sitemaps, or set open: true and send them to /v1/jobs/ID/urls",
  });
}

function brokerFull(progress: Omit<Counts, "refused">, retryAfterMs: number): TrawlError {
  return new TrawlError("BROKER_FULL", {
    op: "api.submit",
    message: `the broker is full: the server has processed ${progress.taken} of these URLs; send the rest to /v1/jobs/${progress.id}/urls later, the last of them with ?last=true`,
    detail: { ...progress, retryAfterMs },
  });
}
