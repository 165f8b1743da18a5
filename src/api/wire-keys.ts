/** Keys, as answers show them: never the key itself, but for once. */
import { z } from "zod";
import { type Quotas, SCOPES } from "../domain/api-key.ts";
import type { ApiKey } from "../store/key-book.ts";

const instant = z.iso.datetime();
const limit = z.number().positive().nullable();

export const keySchemaOut = z.strictObject({
  id: z.string(),
  name: z.string(),
  tenant: z.string().nullable().describe("Whose jobs it sees; null: everybody's."),
  scopes: z.array(z.enum(SCOPES)),
  quotas: z.strictObject({ pending: limit, urlsPerSecond: limit, jobs: limit }),
  state: z.enum(["good", "expired", "revoked"]),
  createdAt: instant,
  expiresAt: instant.nullable(),
  lastUsedAt: instant.nullable().describe("To the minute or so."),
  revokedAt: instant.nullable(),
});

export type KeyOut = z.output<typeof keySchemaOut>;

/** Who asks, and what they may ask for. */
export const meSchemaOut = z.strictObject({
  tenant: z.string().nullable().describe("Whose jobs are seen; null: everybody's."),
  keyId: z.string().nullable().describe("null: the server asks for no key."),
  scopes: z.array(z.enum(SCOPES)),
  version: z.string().describe("Of the server."),
});

export type MeOut = z.output<typeof meSchemaOut>;

export function keyOut(key: ApiKey, now: number): KeyOut {
  const { id, name, tenant = null, scopes, quotas } = key;
  return {
    ...{ id, name, tenant, scopes: [...scopes], quotas: quotasOut(quotas), state: stateOf(key, now) },
    createdAt: new Date(key.createdAt).toISOString(),
    expiresAt: shown(key.expiresAt),
    lastUsedAt: shown(key.lastUsedAt),
    revokedAt: shown(key.revokedAt),
  };
}

function quotasOut({ pending, urlsPerSecond, jobs }: Quotas): KeyOut["quotas"] {
  return { pending: pending ?? null, urlsPerSecond: urlsPerSecond ?? null, jobs: jobs ?? null };
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): KeyOut["state"] {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "good";
}

function shown(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
