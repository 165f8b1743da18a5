/** What a key of the API is good for, and how much of it. */

/** `admin` includes the others: it is the operator's. */
export const SCOPES = ["read", "submit", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** Names of tenants and of keys: they stand in logs, and tenants in names of shared sets. */
export const TENANT_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
export const TENANT_TAKES = "letters, digits, _ . - (64 at most), a letter or digit first";

/** How much may be asked for in the name of a key; undefined: as much as the broker takes. */
export type Quotas = {
  /** URLs waiting or under way in the jobs of the key's tenant, past which no more are taken. */
  pending: number | undefined;
  /** URLs queued a second, on average. */
  urlsPerSecond: number | undefined;
  /** Jobs of the tenant that have not ended. */
  jobs: number | undefined;
};

export const NO_QUOTAS: Quotas = { pending: undefined, urlsPerSecond: undefined, jobs: undefined };

/** The scopes a key has with those it was given. */
export function impliedScopes(given: readonly Scope[]): readonly Scope[] {
  return given.includes("admin") ? SCOPES : SCOPES.filter((scope) => given.includes(scope));
}

/** Why nobody may have a key like this; undefined where somebody may. */
export function keyProblem({ tenant, scopes }: { tenant: string | undefined; scopes: readonly Scope[] }) {
  if (scopes.length === 0) return `scopes: names none; take some of ${SCOPES.join(", ")}`;
  if (tenant === undefined) return undefined;
  if (!TENANT_NAME.test(tenant)) return `tenant: ${JSON.stringify(tenant)} is no name; it takes ${TENANT_TAKES}`;
  if (!scopes.includes("admin")) return undefined;
  return "scopes: admin is for what all tenants share, so its key has no tenant; leave one of the two out";
}
