/** The scopes and quotas of API keys. */

/** The key scopes. `admin` includes the others. */
export const SCOPES = ["read", "submit", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** The form of tenant and key names. Logs contain both; names of dedup scopes and recrawl sets contain the tenant. */
export const TENANT_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
export const TENANT_TAKES = "1 to 64 letters, digits, _ . or -; the first must be a letter or digit";

/** The quotas of a key. Undefined means no quota: only the limits of the broker apply. */
export type Quotas = {
  /** The maximum number of pending and running URLs in the jobs of the tenant, or of the key if it has no tenant. */
  pending: number | undefined;
  /** The maximum number of URLs that the key queues per second, on average. */
  urlsPerSecond: number | undefined;
  /** The maximum number of jobs that have not ended, of the tenant, or of the key if it has no tenant. */
  jobs: number | undefined;
};

export const NO_QUOTAS: Quotas = { pending: undefined, urlsPerSecond: undefined, jobs: undefined };

/** All scopes of a key that was created with the scopes `given`. */
export function impliedScopes(given: readonly Scope[]): readonly Scope[] {
  return given.includes("admin") ? SCOPES : SCOPES.filter((scope) => given.includes(scope));
}

/** Why a key with this tenant and these scopes is invalid; undefined if the key is valid. */
export function keyProblem({ tenant, scopes }: { tenant: string | undefined; scopes: readonly Scope[] }) {
  if (scopes.length === 0) return `scopes: is empty; use one or more of ${SCOPES.join(", ")}`;
  if (tenant === undefined) return undefined;
  if (!TENANT_NAME.test(tenant))
    return `tenant: ${JSON.stringify(tenant)} is not a valid name; it takes ${TENANT_TAKES}`;
  if (!scopes.includes("admin")) return undefined;
  return "scopes: a key with the scope admin acts on all tenants, so it cannot have a tenant; remove admin or the tenant";
}
