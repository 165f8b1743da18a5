/**
 * API keys. All routes require the scope admin. A key with this scope has no tenant and can manage the keys of all
 * tenants.
 */
import { z } from "zod";
import { checkKey, newKey } from "../../control/new-key.ts";
import { keyOut } from "../../control/views/key.ts";
import { type Quotas, SCOPES, TENANT_NAME, TENANT_TAKES } from "../../domain/api-key.ts";
import { TrawlError } from "../../errors.ts";
import type { ApiKey } from "../../store/key-store.ts";
import { VERSION } from "../../version.ts";
import type { ApiDeps } from "../api-deps.ts";
import { fromCursor, LISTING, toCursor } from "../cursor.ts";
import { type ApiResponse, type ApiRoute, defineRoute } from "../route.ts";
import { keySchemaOut, meSchemaOut } from "../wire/keys.ts";

const TAG = "Keys";
const id = z.strictObject({ id: z.string().regex(/^k[0-9a-f]{12}$/, "takes the id of a key, as in GET /v1/keys") });
const name = z.string().regex(/^[\x20-\x7e]{1,100}$/, "takes 1 to 100 printable characters");
const scopes = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length);
const expiresAt = z.iso.datetime().nullable().optional().describe("Null or missing: the key does not expire.");
const MOST = 1_000_000_000;
const OWNER = "of the tenant, or of this key if it has no tenant";
const PENDING = `The maximum number of pending and running URLs ${OWNER}.`;
const JOBS = `The maximum number of jobs that have not ended, ${OWNER}.`;
const quotas = z
  .strictObject({
    pending: z.int().min(1).max(MOST).nullish().describe(PENDING),
    urlsPerSecond: z
      .number()
      .min(0.001)
      .max(MOST)
      .nullish()
      .describe("The average rate of this key. Up to ten times this number of URLs may be submitted at once."),
    jobs: z.int().min(1).max(MOST).nullish().describe(JOBS),
  })
  .describe("Null or missing: no limit.");
const draft = z.strictObject({
  name,
  tenant: z.string().regex(TENANT_NAME, `takes ${TENANT_TAKES}`).nullable().optional(),
  scopes,
  expiresAt,
  quotas: quotas.optional(),
});
const change = z.strictObject({ name, scopes, expiresAt, quotas }).partial();
const listing = z.strictObject(LISTING);
const made = keySchemaOut.extend({
  key: z.string().describe("The secret. It is shown once; the server stores its hash only."),
});
const ONE = { 200: { description: "The key, without its secret.", json: keySchemaOut } };
const TAKES_EFFECT = "Other server instances cache a key for 3 seconds.";

export function keyRoutes(deps: ApiDeps): ApiRoute[] {
  const { store, clock, forgetKey } = deps;
  const shown = (key: ApiKey | undefined, id: string): ApiResponse => {
    if (key === undefined) throw missing(id);
    return { status: 200, body: keyOut(key, clock.now()) };
  };

  return [
    defineRoute({
      method: "POST",
      path: "/v1/keys",
      scope: "admin",
      tag: TAG,
      summary: "Create a key",
      description:
        "A key with a tenant sees only the jobs of that tenant; a key without a tenant sees all jobs. The scope admin includes the other scopes and is only for keys without a tenant. As soon as one key exists, the server requires a key.",
      body: draft,
      example: { name: "ci", tenant: "acme", scopes: ["read", "submit"], quotas: { pending: 100_000 } },
      responses: { 201: { description: "The key. The secret is not shown again.", json: made } },
      async handle({ body }) {
        const { name, tenant, scopes, quotas = {} } = body;
        const wanted = { name, tenant: tenant ?? undefined, scopes, quotas: quotasFrom(quotas), expiresAt: atOf(body) };
        const { key, secret } = newKey(wanted, clock.now());
        await store.keys.add(key);
        forgetKey(key.id);
        const { hash, ...open } = key;
        const added = { ...open, lastUsedAt: undefined, revokedAt: undefined };
        return { status: 201, body: { ...keyOut(added, clock.now()), key: secret } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/keys",
      scope: "admin",
      tag: TAG,
      summary: "List keys, oldest first",
      query: listing,
      responses: {
        200: {
          description: "Includes revoked and expired keys.",
          json: z.strictObject({ keys: z.array(keySchemaOut), next: z.string().nullable() }),
        },
      },
      async handle({ query: { limit, cursor } }) {
        const after = cursor === undefined ? undefined : String(fromCursor(cursor, ["id"]).id);
        const found = await store.keys.list(limit, after);
        const last = found.length < limit ? undefined : found.at(-1);
        const keys = found.map((key) => keyOut(key, clock.now()));
        return { status: 200, body: { keys, next: last === undefined ? null : toCursor({ id: last.id }) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/keys/:id",
      scope: "admin",
      tag: TAG,
      summary: "Get a key",
      params: id,
      responses: ONE,
      handle: async ({ params }) => shown(await store.keys.find(params.id), params.id),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/keys/:id",
      scope: "admin",
      tag: TAG,
      summary: "Change a key's name, scopes, quotas or expiry",
      description: `Missing fields are not changed; quotas are replaced as a whole. The tenant cannot be changed. ${TAKES_EFFECT}`,
      params: id,
      body: change,
      example: { quotas: { pending: 500_000, urlsPerSecond: 1_000 } },
      responses: ONE,
      async handle({ params, body }) {
        const known = await store.keys.find(params.id);
        if (known === undefined) throw missing(params.id);
        const { name = known.name, scopes = known.scopes } = body;
        checkKey({ tenant: known.tenant, scopes });
        const changed = await store.keys.change(params.id, {
          name,
          scopes: [...new Set(scopes)],
          ...(body.quotas === undefined ? {} : { quotas: quotasFrom(body.quotas) }),
          ...(body.expiresAt === undefined ? {} : { expiresAt: atOf(body) }),
        });
        forgetKey(params.id);
        return shown(changed, params.id);
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/keys/:id",
      scope: "admin",
      tag: TAG,
      summary: "Revoke a key",
      description: `Cannot be undone. The key stays in the list. After the last key is revoked, the server still requires one. ${TAKES_EFFECT}`,
      params: id,
      responses: ONE,
      async handle({ params }) {
        const revoked = await store.keys.revoke(params.id, clock.now());
        forgetKey(params.id);
        return shown(revoked, params.id);
      },
    }),
  ];
}

/** The caller of the request. Programs use it to show only the functions that their key allows. */
export function meRoutes(): ApiRoute[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/me",
      scope: "read",
      tag: "Keys",
      summary: "Get the tenant and scopes of the caller",
      responses: { 200: { description: "The tenant and scopes of the key in the request.", json: meSchemaOut } },
      async handle({ caller: { tenant = null, keyId = null, scopes } }) {
        return { status: 200, body: { tenant, keyId, scopes, version: VERSION } };
      },
    }),
  ];
}

function quotasFrom({ pending, urlsPerSecond, jobs }: z.output<typeof quotas>): Quotas {
  return { pending: pending ?? undefined, urlsPerSecond: urlsPerSecond ?? undefined, jobs: jobs ?? undefined };
}

function atOf({ expiresAt }: { expiresAt?: string | null | undefined }): number | undefined {
  return expiresAt === null || expiresAt === undefined ? undefined : Date.parse(expiresAt);
}

function missing(id: string): TrawlError {
  return new TrawlError("NOT_FOUND", { op: "api.keys", message: `there is no key ${id}; GET /v1/keys lists all keys` });
}
