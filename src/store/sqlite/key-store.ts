/** API keys in SQLite. Every API instance calls it; each call is one transaction. */
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import type { RunOnFile } from "../../runtime/sqlite-errors.ts";
import { takeFromBucket, toKey } from "../key-rows.ts";
import type { KeyStore } from "../key-store.ts";

type Names =
  | "addKey"
  | "hasAny"
  | "findKey"
  | "findByHash"
  | "listKeys"
  | "changeKey"
  | "revokeKey"
  | "touchKey"
  | "readBucket"
  | "setBucket"
  | "returnTokens";

export function createKeyStore(db: Database, run: RunOnFile): KeyStore {
  const sql = prepareAll<Names>(db, new URL("./sql/keys.sql", import.meta.url));

  function find(id: string) {
    const row = sql.findKey.get(id);
    return row === undefined ? undefined : toKey(row);
  }

  return {
    add: ({ id, hash, name, tenant = null, scopes, quotas, createdAt, expiresAt = null }) =>
      run("keys.add", () => {
        const encoded = { scopes: scopes.join(" "), quotas: JSON.stringify(quotas) };
        sql.addKey.run({ id, hash, name, tenant, ...encoded, createdAt, expiresAt });
      }),
    hasAny: () => run("keys.hasAny", () => sql.hasAny.get()?.answer === 1),
    find: (id) => run("keys.find", () => find(id)),
    findByHash: (hash) =>
      run("keys.findByHash", () => {
        const row = sql.findByHash.get(hash);
        return row === undefined ? undefined : toKey(row);
      }),
    list: (limit, after = "") => run("keys.list", () => sql.listKeys.all(after, limit).map(toKey)),
    change: (id, change) =>
      run("keys.change", () =>
        db.write(() => {
          const known = find(id);
          if (known === undefined) return undefined;
          const { name, scopes, quotas, expiresAt = null } = { ...known, ...change };
          const encoded = { scopes: scopes.join(" "), quotas: JSON.stringify(quotas) };
          sql.changeKey.run({ id, name, ...encoded, expiresAt });
          return find(id);
        }),
      ),
    revoke: (id, at) =>
      run("keys.revoke", () => {
        sql.revokeKey.run(at, id);
        return find(id);
      }),
    touch: (id, at) => run("keys.touch", () => void sql.touchKey.run(at, id)),
    takeTokens: (id, want, bucket) =>
      run("keys.takeTokens", () =>
        db.write(() => {
          const { granted, fullAt, nextAt } = takeFromBucket(
            Number(sql.readBucket.get(id)?.full_at ?? 0),
            want,
            bucket,
          );
          if (granted > 0) sql.setBucket.run(fullAt, id);
          return { granted, nextAt };
        }),
      ),
    returnTokens: (id, count, { perSecond }) =>
      run("keys.returnTokens", () => void sql.returnTokens.run((count * 1000) / perSecond, id)),
  };
}
