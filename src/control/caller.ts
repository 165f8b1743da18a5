/** The caller of a control operation: an API key, or the user of the command line. */
import type { Quotas, Scope } from "../domain/api-key.ts";
import type { JobSpec } from "../domain/job-spec.ts";
import type { JobView, Visibility } from "../frontier/frontier-admin.ts";

/**
 * A caller with a tenant sees the jobs of that tenant only. If the API has no keys, there is one caller, which has all
 * permissions.
 */
export type Caller = {
  tenant: string | undefined;
  keyId: string | undefined;
  scopes: readonly Scope[];
  /** Set for keys in the store. Keys in the settings have no quotas. */
  quotas?: Quotas;
};

/** Whether the caller may see the job. */
export function isOwn({ spec }: Pick<JobView, "spec">, { tenant }: Caller): boolean {
  return tenant === undefined || (spec as Partial<JobSpec>).tenant === tenant;
}

/** Only callers with the scope admin see values that all tenants share: workers, and the waiting URLs of a site. */
export function visibilityOf({ scopes }: Caller): Visibility {
  return scopes.includes("admin") ? "all" : "own";
}
