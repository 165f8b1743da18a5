/** What routes work on: contracts, never an implementation. */
import type { Config } from "../config/schema.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import { jobMissing } from "../frontier/job-missing.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Bodies } from "../store/bodies/bodies.ts";
import type { Store, StoreBooks } from "../store/store.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import type { QuotaKeeper } from "./quota/quotas.ts";
import type { Caller } from "./route.ts";

export type ApiDeps = {
  frontier: Frontier & FrontierAdmin;
  store: Store & StoreBooks;
  bodies: Bodies;
  config: Config;
  clock: Clock;
  log: Log;
  quotas: QuotaKeeper;
  /** A key was changed through this process: what is believed of it is looked up anew. */
  forgetKey(id: string): void;
  /** Whether a job's rules can be read. Throws BAD_SELECTOR. */
  checkRules(spec: JobSpec): void;
};

/** A job, if there is one for whoever asks: that of another tenant is not there. Throws NOT_FOUND. */
export async function findOwnJob(
  { frontier }: Pick<ApiDeps, "frontier">,
  caller: Caller,
  id: string,
): Promise<JobView> {
  const job = await frontier.findJob(id);
  if (job === undefined || !isOwn(job, caller)) throw jobMissing(id, "api.findJob");
  return job;
}

export function isOwn({ spec }: Pick<JobView, "spec">, { tenant }: Caller): boolean {
  return tenant === undefined || (spec as Partial<JobSpec>).tenant === tenant;
}
