/**
 * A job submitted over HTTP, where an answer may get lost and the request be sent again. With an Idempotency-Key the job's
 * id comes of the key: sent again after a crash between any two steps, or to two servers at once, the same request meets
 * its own job, and goes on.
 */
import { hash } from "node:crypto";
import type { z } from "zod";
import { isTrawlError, TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import type { jobSchema } from "../../submit/job-schema.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { jobIdOfKey, KEY_TAKES, newJobId, parseJob, resolveJob } from "../../submit/resolve-job.ts";
import { firstTasks, newJobFrom } from "../../submit/submit-job.ts";
import { withTenant } from "../../submit/with-tenant.ts";
import { noteWebhook } from "../../webhook/note-webhook.ts";
import type { ApiDeps } from "../api-deps.ts";
import type { Caller } from "../route.ts";
import { addUrls, REFUSALS_MOST, type Taken } from "./add-urls.ts";
import { spiderInFolder } from "./spider-in-folder.ts";

export type NewJobBody = z.output<typeof jobSchema> & { open?: boolean | undefined };
type Sender = { caller: Caller; requestId: string; key: string | string[] | undefined };

export async function submitOnce(
  deps: ApiDeps,
  body: NewJobBody,
  { caller, requestId, key }: Sender,
): Promise<Taken & { requestId: string; webhookSecret: string | null }> {
  const { open = false, ...job } = body;
  const { frontier, clock, config } = deps;
  const urls = job.urls ?? [];
  if (urls.length === 0 && !open) throw leadsNowhere();
  const id = key === undefined ? newJobId(clock.now()) : idOf(key, caller);
  const context = { id, requestId, queue: undefined, typedHosts: [], out: undefined };
  const spec: JobSpec = {
    ...withTenant(resolveJob(parseJob(job), config, context), caller.tenant),
    ...(job.spider === undefined ? {} : { spider: spiderInFolder(job.spider, config.apiSpiders) }),
    ...(key === undefined ? {} : { bodyHash: hash("sha256", JSON.stringify(body)) }),
  };
  deps.checkRules(spec);
  const before = key === undefined ? undefined : await deps.catalogue.lookUp(id);
  if (before === "deleted") throw wasDeleted(String(key), id);
  if (before !== undefined)
    refuseReuse(key, before, spec); // before anything is noted of it
  else {
    if (urls.length > 0) await deps.quotas.check(caller);
    await deps.quotas.admitJob(caller, id);
  }
  const secret = await noteWebhook(deps.store.webhooks, job.webhook, { jobId: id, now: clock.now() });
  const first = before ?? (await created(deps, spec));
  if (first !== undefined) refuseReuse(key, first, spec);
  const known = first?.spec as JobSpec | undefined;
  const taken =
    first?.sealed === true
      ? undefined
      : await addOnce(deps, known ?? spec, urls, caller).catch((error: unknown) => {
          throw withSecret(error, secret);
        });
  if (!open && before?.archived !== true) await frontier.seal(id);
  const answer = known === undefined && taken !== undefined ? taken : asTheFirstTime(spec, urls);
  return { ...answer, requestId: known?.requestId ?? requestId, webhookSecret: secret ?? null };
}

/** Undefined where it is made here. The same key may come to two servers at once: then it is that of whoever was first. */
async function created({ frontier, clock }: ApiDeps, spec: JobSpec): Promise<JobView | undefined> {
  const now = clock.now();
  await frontier.createJob(newJobFrom(spec, now));
  if (spec.bodyHash === undefined) return undefined;
  const job = await frontier.findJob(spec.id);
  const isOurs = job?.createdAt === now && (job.spec as JobSpec).requestId === spec.requestId;
  return isOurs ? undefined : job;
}

/** Undefined where the same request, at another server, has come to its end meanwhile. */
async function addOnce(
  deps: ApiDeps,
  spec: JobSpec,
  urls: readonly string[],
  caller: Caller,
): Promise<Taken | undefined> {
  try {
    return await addUrls(deps, spec, urls, { caller });
  } catch (error) {
    if (spec.bodyHash === undefined || !isTrawlError(error, "JOB_ENDED")) throw error;
    return undefined;
  }
}

/** Told this once: who submitted hears it also where not all was taken, and the rest is to be sent elsewhere. */
function withSecret(error: unknown, webhookSecret: string | undefined): unknown {
  if (webhookSecret === undefined || !isTrawlError(error, "BROKER_FULL", "QUOTA_REACHED")) return error;
  const { code, op, message, detail, cause } = error;
  return new TrawlError(code, { op, message, detail: { ...detail, webhookSecret }, cause });
}

/** What the answer was, or would have been, when it was first sent: the client may not have heard it. */
function asTheFirstTime(spec: JobSpec, urls: readonly string[]): Taken {
  const { tasks, refused } = firstTasks(spec, urls);
  const accepted = new Set(tasks.map(({ url }) => url)).size;
  const duplicates = tasks.length - accepted;
  return {
    ...{ id: spec.id, accepted, duplicates, refusedCount: refused.length, taken: urls.length },
    refused: refused.slice(0, REFUSALS_MOST),
  };
}

function leadsNowhere(): TrawlError {
  return new TrawlError("BAD_JOB", {
    op: "api.submit",
    message:
      "urls: the job has none, and would end at once; give some, or open: true and send them to /v1/jobs/ID/urls",
  });
}

function idOf(key: string | string[], { tenant = "" }: Caller): string {
  const id = typeof key === "string" ? jobIdOfKey(key, tenant) : undefined;
  if (id !== undefined) return id;
  throw new TrawlError("BAD_REQUEST", { op: "api.submit", message: `Idempotency-Key: takes one key of ${KEY_TAKES}` });
}

function wasDeleted(key: string, id: string): TrawlError {
  return new TrawlError("JOB_DELETED", {
    op: "api.submit",
    message: `the job of Idempotency-Key ${JSON.stringify(key)} (${id}) was deleted; take a new key for a new job`,
    detail: { id },
  });
}

function refuseReuse(key: string | string[] | undefined, known: JobView, { id, bodyHash }: JobSpec): void {
  if ((known.spec as JobSpec).bodyHash === bodyHash) return;
  throw new TrawlError("KEY_REUSED", {
    op: "api.submit",
    message: `Idempotency-Key ${JSON.stringify(key)} was sent with another body before (job ${id}); take a new key for a new job`,
    detail: { id },
  });
}
