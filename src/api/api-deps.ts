/** The dependencies of the routes: contracts only, no implementations. */

import type { Config } from "../config/schema.ts";
import { type Caller, isOwn } from "../control/caller.ts";
import { type Catalogue, jobArchived, type KnownJob } from "../control/catalogue.ts";
import type { QuotaKeeper } from "../control/quota/quotas.ts";
import type { JobSpending } from "../domain/exit.ts";
import type { JobSpec } from "../domain/job-spec.ts";
import type { Fields } from "../domain/page.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import { jobNotFound } from "../frontier/job-errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Tracing } from "../runtime/tracing.ts";
import type { Bodies, RequestBodies } from "../store/bodies/bodies.ts";
import type { ControlStores, Store, StoredPage } from "../store/store.ts";
import type { JobListCache } from "./job-list-cache.ts";
import type { ProxiesOut } from "./wire/proxies.ts";

export type ApiDeps = {
  frontier: Frontier & FrontierAdmin;
  store: Store & ControlStores;
  catalogue: Catalogue;
  jobList: Pick<JobListCache, "page">;
  /** Called after a job was marked as deleted, so that retention removes its data soon. */
  onDeleted(): void;
  bodies: Bodies;
  requestBodies: RequestBodies;
  config: Config;
  clock: Clock;
  log: Log;
  openTracing(): Promise<Tracing>;
  quotas: QuotaKeeper;
  /** Called after this process changed a key, so that the key is read again from the store. */
  forgetKey(id: string): void;
  /** The health of the proxies, as measured by the fleet. */
  readProxies(): Promise<ProxiesOut>;
  /** What a job has spent on proxies. Undefined if none of its requests went through a proxy. */
  readSpending(jobId: string): Promise<JobSpending | undefined>;
  /** Throws BAD_SELECTOR if the job's rules cannot be compiled. */
  checkRules(spec: JobSpec): void;
  /**
   * Runs rules on a stored page, in a separate thread. Returns the first results only. Throws BAD_SELECTOR,
   * EXTRACT_TIMEOUT or EXTRACT_BUSY.
   */
  previewRules(
    choice: { rules: JobSpec["extract"]; links: string | undefined },
    page: StoredPage,
    body: Buffer,
    requester: { name: string; signal: AbortSignal },
  ): Promise<RulesPreview>;
};

/** The first results, and the total numbers. */
type RulesPreview = {
  records: readonly Fields[];
  recordCount: number;
  invalid: readonly { fields: Fields; reason: string }[];
  invalidCount: number;
  links: readonly string[];
  linkCount: number;
};

/** A job that the caller may see. Throws NOT_FOUND, also for a job of another tenant. */
export async function findOwnJob(
  { catalogue }: Pick<ApiDeps, "catalogue">,
  caller: Caller,
  id: string,
): Promise<KnownJob> {
  const job = await catalogue.find(id);
  if (job === undefined || !isOwn(job, caller)) throw jobNotFound(id, "api.findJob");
  return job;
}

/** Like `findOwnJob`, for requests that change the job. Also throws JOB_ARCHIVED. */
export async function findLiveJob(deps: Pick<ApiDeps, "catalogue">, caller: Caller, id: string): Promise<KnownJob> {
  const job = await findOwnJob(deps, caller, id);
  if (job.archived) throw jobArchived(id, "api.findJob");
  return job;
}
