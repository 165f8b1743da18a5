import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import type { KeyBook } from "../key-book.ts";
import { drawn, toKey } from "../key-row.ts";

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
  | "putBack";

/** Runs one call, its errors in the words of the store. */
export type RunCall = <T>(op: string, work: () => T) => Promise<T>;

export function createKeyBook(db: Database, run: RunCall): KeyBook {
  const sql = prepareAll<Names>(db, new URL("./sql/keys.sql", import.meta.url));

  function find(id: string) {
    const row = sql.findKey.get(id);
    return row === undefined ? undefined : toKey(row);
  }

  return {
    add: ({ id, hash, name, tenant, scopes, quotas, createdAt, expiresAt }) =>
      run("keys.add", () => {
        const words = [scopes.join(" "), JSON.stringify(quotas)];
        sql.addKey.run(id, hash, name, tenant ?? null, ...words, createdAt, expiresAt ?? null);
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
          const { name, scopes, quotas, expiresAt } = { ...known, ...change };
          sql.changeKey.run(name, scopes.join(" "), JSON.stringify(quotas), expiresAt ?? null, id);
          return find(id);
        }),
      ),
    revoke: (id, at) =>
      run("keys.revoke", () => {
        sql.revokeKey.run(at, id);
        return find(id);
      }),
    touch: (id, at) => run("keys.touch", () => void sql.touchKey.run(at, id)),
    draw: (id, want, bucket) =>
      run("keys.draw", () =>
        db.write(() => {
          const { granted, fullAt, nextAt } = drawn(Number(sql.readBucket.get(id)?.full_at ?? 0), want, bucket);
          if (granted > 0) sql.setBucket.run(fullAt, id);
          return { granted, nextAt };
        }),
      ),
    putBack: (id, count, { perSecond }) =>
      run("keys.putBack", () => void sql.putBack.run((count * 1000) / perSecond, id)),
  };
}
