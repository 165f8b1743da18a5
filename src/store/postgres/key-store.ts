/**
 * API keys in PostgreSQL. A call whose answer was lost is retried, and changes nothing the second time. Each call of
 * `takeTokens` has an id. The server stores the id of the last call with the key, and so recognizes a retry. If another
 * call ran in between, the tokens are taken twice; the bucket refills within seconds. `returnTokens` is never retried:
 * returning tokens twice would exceed the quota of the key.
 */
import { randomUUID } from "node:crypto";
import { TrawlError } from "../../errors.ts";
import { readSql } from "../../runtime/sqlite.ts";
import { takeFromBucket, toKey } from "../key-rows.ts";
import type { KeyStore } from "../key-store.ts";
import type { PostgresConnection, PostgresRow, PostgresValue, PostgresValues } from "./connection.ts";

type Names =
  | "addKey"
  | "keyExists"
  | "hasAny"
  | "findKey"
  | "findByHash"
  | "listKeys"
  | "changeKey"
  | "revokeKey"
  | "touchKey"
  | "takeTokens"
  | "returnTokens";

export function createKeyStore(connection: PostgresConnection): KeyStore {
  const sql = readSql<Names>(new URL("./sql/keys.sql", import.meta.url));
  const query = (op: keyof KeyStore, text: string, values: PostgresValues) =>
    connection.query(`keys.${op}`, text, values);
  const first = ([row]: readonly PostgresRow[]) => (row === undefined ? undefined : toKey(row));

  return {
    async add({ id, hash, name, tenant = null, scopes, quotas, createdAt, expiresAt = null }) {
      const encoded = { scopes: scopes.join(" "), quotas: JSON.stringify(quotas) };
      await query("add", sql.addKey, { id, hash, name, tenant, ...encoded, createdAt, expiresAt });
      const [row] = await query("add", sql.keyExists, [id, hash]);
      if (row?.answer === true) return;
      const message = `a key with the id ${id} or with the same hash already exists`;
      throw new TrawlError("INTERNAL", { op: "keys.add", message });
    },
    hasAny: async () => (await query("hasAny", sql.hasAny, []))[0]?.answer === true,
    find: async (id) => first(await query("find", sql.findKey, [id])),
    findByHash: async (hash) => first(await query("findByHash", sql.findByHash, [hash])),
    list: async (limit, after = "") => (await query("list", sql.listKeys, [after, limit])).map(toKey),
    async change(id, change) {
      const { name = null, scopes, quotas, expiresAt = null } = change;
      const values: Record<string, PostgresValue> = {
        ...{ id, name, expiresAt },
        scopes: scopes?.join(" ") ?? null,
        quotas: quotas === undefined ? null : JSON.stringify(quotas),
        changesExpiry: String("expiresAt" in change),
      };
      return first(await query("change", sql.changeKey, values));
    },
    revoke: async (id, at) => first(await query("revoke", sql.revokeKey, [at, id])),
    touch: async (id, at) => void (await query("touch", sql.touchKey, [at, id])),
    async takeTokens(id, want, bucket) {
      const { perSecond, capacity, now } = bucket;
      const values = { id, want, eachMs: 1000 / perSecond, capacity, now, callId: randomUUID() };
      const [row] = await query("takeTokens", sql.takeTokens, values);
      if (row === undefined) return takeFromBucket(0, want, bucket); // the bucket of an unknown key is full
      return { granted: Number(row.granted), nextAt: Number(row.next_at) };
    },
    returnTokens: (id, count, { perSecond }) =>
      connection.queryOnce("keys.returnTokens", sql.returnTokens, [(count * 1000) / perSecond, id]),
  };
}
