/** Conversion between API keys and rows, shared by all backends. */
import type { Quotas, Scope } from "../domain/api-key.ts";
import type { ApiKey, TokenBucket } from "./key-store.ts";

export function toKey(row: Readonly<Record<string, unknown>>): ApiKey {
  return {
    id: String(row.id),
    name: String(row.name),
    tenant: row.tenant === null ? undefined : String(row.tenant),
    scopes: String(row.scopes).split(" ") as Scope[],
    quotas: toQuotas(String(row.quotas)),
    createdAt: Number(row.created_at),
    expiresAt: optional(row.expires_at),
    lastUsedAt: optional(row.last_used_at),
    revokedAt: optional(row.revoked_at),
  };
}

/** Ignores quotas that a later version added; they stay in the row. */
function toQuotas(json: string): Quotas {
  const { pending, urlsPerSecond, jobs } = JSON.parse(json) as Partial<Quotas>;
  return { pending, urlsPerSecond, jobs };
}

function optional(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/** Takes tokens from a bucket that is full again at `fullAt`. Returns the new `fullAt` (GCRA). */
export function takeFromBucket(fullAt: number, want: number, { perSecond, capacity, now }: TokenBucket) {
  const eachMs = 1000 / perSecond;
  const from = Math.max(fullAt, now);
  // 1e-6 compensates floating-point rounding.
  const available = Math.floor((capacity * eachMs - (from - now)) / eachMs + 1e-6);
  const granted = Math.max(0, Math.min(want, available));
  const next = from + granted * eachMs;
  return { granted, fullAt: next, nextAt: Math.max(now, next - (capacity - 1) * eachMs) };
}
