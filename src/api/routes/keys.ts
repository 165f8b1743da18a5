/** Keys of the API. All of it takes the scope admin, whose keys have no tenant: they see, and may make, everybody's. */
import { z } from "zod";
import { type Quotas, SCOPES, TENANT_NAME, TENANT_TAKES } from "../../domain/api-key.ts";
import { TrawlError } from "../../errors.ts";
import type { ApiKey } from "../../store/key-book.ts";
import type { ApiDeps } from "../api-deps.ts";
import { fromCursor, LISTING, toCursor } from "../cursor.ts";
import { checkKey, newKey } from "../keys/new-key.ts";
import { type Answer, defineRoute, type Route } from "../route.ts";
import { keyOut, keySchemaOut } from "../wire-keys.ts";

const TAG = "Keys";
const id = z.strictObject({ id: z.string().regex(/^k[0-9a-f]{12}$/, "is the id of a key, as GET /v1/keys has it") });
const name = z.string().regex(/^[\x20-\x7e]{1,100}$/, "takes 1 to 100 printable characters");
const scopes = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length);
const expiresAt = z.iso.datetime().nullable().optional().describe("Null, or left out: never.");
const MOST = 1_000_000_000;
const quotas = z
  .strictObject({
    pending: z
      .int()
      .min(1)
      .max(MOST)
      .nullish()
      .describe("URLs waiting in the tenant's jobs, past which no more are taken."),
    urlsPerSecond: z
      .number()
      .min(0.001)
      .max(MOST)
      .nullish()
      .describe("On average; ten seconds' worth may come at once."),
    jobs: z.int().min(1).max(MOST).nullish().describe("The tenant's jobs that have not ended."),
  })
  .describe("What is null, or left out, is not limited.");
const draft = z.strictObject({
  name,
  tenant: z.string().regex(TENANT_NAME, `takes ${TENANT_TAKES}`).nullable().optional(),
  scopes,
  expiresAt,
  quotas: quotas.optional(),
});
const change = z.strictObject({ name, scopes, expiresAt, quotas }).partial();
const listing = z.strictObject(LISTING);
const made = keySchemaOut.extend({ key: z.string().describe("Shown this once: keep it. Only its hash is kept here.") });
const ONE = { 200: { says: "The key, without its secret.", json: keySchemaOut } };
const TAKES_EFFECT = "Other instances believe what they know of a key for 3 seconds.";

export function keyRoutes(deps: ApiDeps): Route[] {
  const { store, clock, forgetKey } = deps;
  const shown = (key: ApiKey | undefined, id: string): Answer => {
    if (key === undefined) throw missing(id);
    return { status: 200, body: keyOut(key, clock.now()) };
  };

  return [
    defineRoute({
      method: "POST",
      path: "/v1/keys",
      scope: "admin",
      tag: TAG,
      summary: "Make a key",
      says: "A key of a tenant sees that tenant's jobs alone; one without sees everybody's. The scope admin includes the others, and takes a key without a tenant. From the first key on, the server asks everybody for one.",
      body: draft,
      example: { name: "ci", tenant: "acme", scopes: ["read", "submit"], quotas: { pending: 100_000 } },
      answers: { 201: { says: "The key. It is not shown again.", json: made } },
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
      answers: {
        200: {
          says: "Revoked and expired ones, too.",
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
      summary: "Look at a key",
      params: id,
      answers: ONE,
      handle: async ({ params }) => shown(await store.keys.find(params.id), params.id),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/keys/:id",
      scope: "admin",
      tag: TAG,
      summary: "Change a key's name, scopes, quotas or expiry",
      says: `What is left out stays; quotas are replaced whole. Its tenant stays. ${TAKES_EFFECT}`,
      params: id,
      body: change,
      example: { quotas: { pending: 500_000, urlsPerSecond: 1_000 } },
      answers: ONE,
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
      summary: "Revoke a key, for good",
      says: `It stays in the list. Revoking the last one does not open the server. ${TAKES_EFFECT}`,
      params: id,
      answers: ONE,
      async handle({ params }) {
        const revoked = await store.keys.revoke(params.id, clock.now());
        forgetKey(params.id);
        return shown(revoked, params.id);
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
  return new TrawlError("NOT_FOUND", { op: "api.keys", message: `there is no key ${id}; GET /v1/keys lists them` });
}
