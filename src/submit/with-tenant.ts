import type { JobSpec } from "./job-spec.ts";

/**
 * The job as one of a tenant's. A named set of seen URLs is the tenant's own: one that all shared would tell each what the
 * others have crawled, and let them keep each other from it.
 */
export function withTenant(spec: JobSpec, tenant: string | undefined): JobSpec {
  if (tenant === undefined) return spec;
  const { dedup } = spec;
  const own = "expireAfterMs" in dedup ? { ...dedup, scope: `tenant/${tenant}/${dedup.scope}` } : dedup;
  return { ...spec, tenant, dedup: own };
}

/** By this word it is noted whose a job is. */
export function tenantOwner(tenant: string): string {
  return `t:${tenant}`;
}
