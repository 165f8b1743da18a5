/** What routes work on: contracts, never an implementation. */
import type { Config } from "../config/schema.ts";
import type { Fields } from "../domain/page.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin, Hearing, JobView } from "../frontier/frontier-admin.ts";
import { jobMissing } from "../frontier/job-missing.ts";
import { type Catalogue, jobArchived, type KnownJob } from "../retain/catalogue.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Tracing } from "../runtime/tracing.ts";
import type { Bodies } from "../store/bodies/bodies.ts";
import type { Store, StoreBooks, StoredPage } from "../store/store.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import type { QuotaKeeper } from "./quota/quotas.ts";
import type { Caller } from "./route.ts";

export type ApiDeps = {
  frontier: Frontier & FrontierAdmin;
  store: Store & StoreBooks;
  catalogue: Catalogue;
  /** A job was marked as deleted: what is left of it may be removed. */
  onDeleted(): void;
  bodies: Bodies;
  config: Config;
  clock: Clock;
  log: Log;
  /** Where the way of requests is told to whoever records it. */
  openTracing(): Promise<Tracing>;
  quotas: QuotaKeeper;
  /** A key was changed through this process: what is believed of it is looked up anew. */
  forgetKey(id: string): void;
  /** Whether a job's rules can be read. Throws BAD_SELECTOR. */
  checkRules(spec: JobSpec): void;
  /**
   * What rules make of a page that is kept, at no cost to others; the first of it. Throws BAD_SELECTOR, EXTRACT_TIMEOUT or
   * EXTRACT_BUSY.
   */
  readPage(
    choice: Reading["choice"],
    page: StoredPage,
    body: Buffer,
    asker: Reading["asker"],
  ): Promise<Reading["read"]>;
};

/** How a page is read, and what comes of it. */
export type Reading = {
  choice: { rules: JobSpec["extract"]; links: string | undefined };
  asker: { name: string; signal: AbortSignal };
  read: {
    records: readonly Fields[];
    recordCount: number;
    invalid: readonly { fields: Fields; reason: string }[];
    invalidCount: number;
    links: readonly string[];
    linkCount: number;
  };
};

/** A job, if there is one for whoever asks: that of another tenant is not there. Throws NOT_FOUND. */
export async function findOwnJob(
  { catalogue }: Pick<ApiDeps, "catalogue">,
  caller: Caller,
  id: string,
): Promise<KnownJob> {
  const job = await catalogue.find(id);
  if (job === undefined || !isOwn(job, caller)) throw jobMissing(id, "api.findJob");
  return job;
}

/** The same, where it is to be steered. Throws JOB_ARCHIVED too. */
export async function findLiveJob(deps: Pick<ApiDeps, "catalogue">, caller: Caller, id: string): Promise<KnownJob> {
  const job = await findOwnJob(deps, caller, id);
  if (job.archived) throw jobArchived(id, "api.findJob");
  return job;
}

/** What waits at a site, and who works, is everybody's: it takes admin. */
export function hearingOf({ scopes }: Caller): Hearing {
  return scopes.includes("admin") ? "all" : "own";
}

export function isOwn({ spec }: Pick<JobView, "spec">, { tenant }: Caller): boolean {
  return tenant === undefined || (spec as Partial<JobSpec>).tenant === tenant;
}
