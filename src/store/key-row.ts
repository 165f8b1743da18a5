/** Keys as rows, and back. */
import type { Quotas, Scope } from "../domain/api-key.ts";
import type { ApiKey, Bucket } from "./key-book.ts";

type Value = unknown;

export function toKey(row: Readonly<Record<string, Value>>): ApiKey {
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

/** Later versions may know more of them: those are kept, and not looked at. */
function toQuotas(json: string): Quotas {
  const { pending, urlsPerSecond, jobs } = JSON.parse(json) as Partial<Quotas>;
  return { pending, urlsPerSecond, jobs };
}

function optional(value: Value): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/** What a bucket that is full again at `fullAt` gives, and when it is full after that (GCRA). */
export function drawn(fullAt: number, want: number, { perSecond, holds, now }: Bucket) {
  const eachMs = 1000 / perSecond;
  const from = Math.max(fullAt, now);
  // A little is added for what floating point takes off.
  const there = Math.floor((holds * eachMs - (from - now)) / eachMs + 1e-6);
  const granted = Math.max(0, Math.min(want, there));
  const next = from + granted * eachMs;
  return { granted, fullAt: next, nextAt: Math.max(now, next - (holds - 1) * eachMs) };
}
