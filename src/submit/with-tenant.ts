import type { JobSpec } from "./job-spec.ts";

/**
 * The job as one of a tenant's. A named set of seen URLs is the tenant's own: one that all shared would tell each what the
 * others have crawled, and let them keep each other from it. So is what a recrawl set remembers.
 */
export function withTenant(spec: JobSpec, tenant: string | undefined): JobSpec {
  if (tenant === undefined) return spec;
  const { dedup, recrawl } = spec;
  const own = "expireAfterMs" in dedup ? { ...dedup, scope: `tenant/${tenant}/${dedup.scope}` } : dedup;
  const ownSet = recrawl === undefined ? {} : { recrawl: { ...recrawl, set: setOfTenant(recrawl.set, tenant) } };
  return { ...spec, tenant, dedup: own, ...ownSet };
}

/** No tenant's name, whatever is in it, leads into the sets of another. */
function setOfTenant(set: string, tenant: string): string {
  return `tenant/${encodeURIComponent(tenant)}/${set}`;
}

/** The recrawl set of a schedule's own jobs; no user may name one like it. */
export function setOfSchedule(scheduleId: string): string {
  return `schedule/${scheduleId}`;
}

/** The same, with its tenant. */
export function wholeSetOfSchedule({ id, tenant }: { id: string; tenant: string | undefined }): string {
  return tenant === undefined ? setOfSchedule(id) : setOfTenant(setOfSchedule(id), tenant);
}

/** By this word it is noted whose a job is. */
export function tenantOwner(tenant: string): string {
  return `t:${tenant}`;
}
