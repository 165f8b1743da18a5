/** The scopes and quotas of API keys. */

/** `admin` includes the others. */
export const SCOPES = ["read", "submit", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** Names of tenants and keys. They appear in logs, and tenants in the names of shared sets. */
export const TENANT_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
export const TENANT_TAKES = "letters, digits, _ . - (64 at max), a letter or digit first";

/** The quotas of a key. Undefined means no quota: only the limits of the broker apply. */
export type Quotas = {
  /** The most pending or running URLs in the jobs of the key's tenant. */
  pending: number | undefined;
  /** The most URLs queued per second, on average. */
  urlsPerSecond: number | undefined;
  /** The most jobs of the tenant that have not ended. */
  jobs: number | undefined;
};

export const NO_QUOTAS: Quotas = { pending: undefined, urlsPerSecond: undefined, jobs: undefined };

/** All scopes of a key, given those it was created with. */
export function impliedScopes(given: readonly Scope[]): readonly Scope[] {
  return given.includes("admin") ? SCOPES : SCOPES.filter((scope) => given.includes(scope));
}

/** Why such a key is invalid; undefined if it is valid. */
export function keyProblem({ tenant, scopes }: { tenant: string | undefined; scopes: readonly Scope[] }) {
  if (scopes.length === 0) return `scopes: is empty; use one or more of ${SCOPES.join(", ")}`;
  if (tenant === undefined) return undefined;
  if (!TENANT_NAME.test(tenant))
    return `tenant: ${JSON.stringify(tenant)} is not a valid name; it takes ${TENANT_TAKES}`;
  if (!scopes.includes("admin")) return undefined;
  return "scopes: a key with the scope admin acts on all tenants, so it cannot have a tenant; remove admin or the tenant";
}
