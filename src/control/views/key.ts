/** An API key as the API returns it and as `--json` prints it. The secret is not part of it. */
import type { Quotas, Scope } from "../../domain/api-key.ts";
import type { ApiKey } from "../../store/key-store.ts";

export type KeyOut = {
  id: string;
  name: string;
  tenant: string | null;
  scopes: Scope[];
  quotas: { pending: number | null; urlsPerSecond: number | null; jobs: number | null };
  state: "good" | "expired" | "revoked";
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
};

export function keyOut(key: ApiKey, now: number): KeyOut {
  const { id, name, tenant = null, scopes, quotas } = key;
  return {
    ...{ id, name, tenant, scopes: [...scopes], quotas: quotasOut(quotas), state: stateOf(key, now) },
    createdAt: new Date(key.createdAt).toISOString(),
    expiresAt: isoOrNull(key.expiresAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
    revokedAt: isoOrNull(key.revokedAt),
  };
}

function quotasOut({ pending, urlsPerSecond, jobs }: Quotas): KeyOut["quotas"] {
  return { pending: pending ?? null, urlsPerSecond: urlsPerSecond ?? null, jobs: jobs ?? null };
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): KeyOut["state"] {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "good";
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
