/** Schemas of API keys. A response contains the secret only once, when the key is created. */
import { z } from "zod";
import type { KeyOut } from "../../control/views/key.ts";
import { SCOPES } from "../../domain/api-key.ts";

const instant = z.iso.datetime();
const limit = z.number().positive().nullable();

export const keySchemaOut = z.strictObject({
  id: z.string(),
  name: z.string(),
  tenant: z.string().nullable().describe("The key sees only the jobs of this tenant. null: the jobs of all tenants."),
  scopes: z.array(z.enum(SCOPES)),
  quotas: z.strictObject({ pending: limit, urlsPerSecond: limit, jobs: limit }),
  state: z.enum(["good", "expired", "revoked"]),
  createdAt: instant,
  expiresAt: instant.nullable(),
  lastUsedAt: instant.nullable().describe("Accurate to about a minute."),
  revokedAt: instant.nullable(),
}) satisfies z.ZodType<KeyOut>;

/** The caller of the request. */
export const meSchemaOut = z.strictObject({
  tenant: z
    .string()
    .nullable()
    .describe("The caller sees only the jobs of this tenant. null: the jobs of all tenants."),
  keyId: z.string().nullable().describe("null: the server does not require a key."),
  scopes: z.array(z.enum(SCOPES)),
  version: z.string().describe("The server's version."),
});

export type MeOut = z.output<typeof meSchemaOut>;
