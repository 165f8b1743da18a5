import type { JobSpec } from "../domain/job-spec.ts";

/**
 * Assigns a job to a tenant. Its dedup scope and its recrawl set get the tenant as a prefix. If tenants shared them,
 * each could see what the others have crawled, and could keep the others from crawling it.
 */
export function withTenant(spec: JobSpec, tenant: string | undefined): JobSpec {
  if (tenant === undefined) return spec;
  const { dedup, recrawl } = spec;
  const own = "expireAfterMs" in dedup ? { ...dedup, scope: `tenant/${tenant}/${dedup.scope}` } : dedup;
  const ownSet = recrawl === undefined ? {} : { recrawl: { ...recrawl, set: setOfTenant(recrawl.set, tenant) } };
  return { ...spec, tenant, dedup: own, ...ownSet };
}

/** The tenant name is encoded, so that it cannot produce the name of another tenant's set. */
function setOfTenant(set: string, tenant: string): string {
  return `tenant/${encodeURIComponent(tenant)}/${set}`;
}

/** The recrawl set of a schedule's jobs. A user cannot choose this name: it contains a slash. */
export function setOfSchedule(scheduleId: string): string {
  return `schedule/${scheduleId}`;
}

/** The recrawl set of a schedule's jobs, with the prefix of the tenant. */
export function wholeSetOfSchedule({ id, tenant }: { id: string; tenant: string | undefined }): string {
  return tenant === undefined ? setOfSchedule(id) : setOfTenant(setOfSchedule(id), tenant);
}

/** The owner of a tenant's jobs, in the owner rows of the store. */
export function tenantOwner(tenant: string): string {
  return `t:${tenant}`;
}
