/**
 * Keys on PostgreSQL. A call whose answer got lost is made again, and changes nothing the second time: a draw has a name, by
 * which it is known unless another came between, and then some are drawn for nobody, which are back within seconds. Only
 * `putBack` is not made again: what was put back twice would be more than the key may have.
 */
import { randomUUID } from "node:crypto";
import { TrawlError } from "../../errors.ts";
import { readSql } from "../../runtime/sqlite.ts";
import type { KeyBook } from "../key-book.ts";
import { drawn, toKey } from "../key-row.ts";
import type { Connection, PostgresRow, PostgresValue } from "./connection.ts";

type Names =
  | "addKey"
  | "isThere"
  | "hasAny"
  | "findKey"
  | "findByHash"
  | "listKeys"
  | "changeKey"
  | "revokeKey"
  | "touchKey"
  | "draw"
  | "putBack";

export function createKeyBook(connection: Connection): KeyBook {
  const sql = readSql<Names>(new URL("./sql/keys.sql", import.meta.url));
  const ask = (op: keyof KeyBook, text: string, ...values: PostgresValue[]) =>
    connection.ask(`keys.${op}`, text, values);
  const first = ([row]: readonly PostgresRow[]) => (row === undefined ? undefined : toKey(row));

  return {
    async add({ id, hash, name, tenant, scopes, quotas, createdAt, expiresAt }) {
      const words = [name, tenant ?? null, scopes.join(" "), JSON.stringify(quotas)];
      await ask("add", sql.addKey, id, hash, ...words, createdAt, expiresAt ?? null);
      const [row] = await ask("add", sql.isThere, id, hash);
      if (row?.answer === true) return;
      throw new TrawlError("INTERNAL", { op: "keys.add", message: `another key has the id ${id}, or its hash` });
    },
    hasAny: async () => (await ask("hasAny", sql.hasAny))[0]?.answer === true,
    find: async (id) => first(await ask("find", sql.findKey, id)),
    findByHash: async (hash) => first(await ask("findByHash", sql.findByHash, hash)),
    list: async (limit, after = "") => (await ask("list", sql.listKeys, after, limit)).map(toKey),
    async change(id, change) {
      const { name = null, scopes, quotas, expiresAt = null } = change;
      const words = [name, scopes?.join(" ") ?? null, quotas === undefined ? null : JSON.stringify(quotas)];
      return first(await ask("change", sql.changeKey, id, ...words, String("expiresAt" in change), expiresAt));
    },
    revoke: async (id, at) => first(await ask("revoke", sql.revokeKey, at, id)),
    touch: async (id, at) => void (await ask("touch", sql.touchKey, at, id)),
    async draw(id, want, bucket) {
      const { perSecond, holds, now } = bucket;
      const [row] = await ask("draw", sql.draw, id, want, 1000 / perSecond, holds, now, randomUUID());
      if (row === undefined) return drawn(0, want, bucket); // a key that is not there has a bucket that is full
      return { granted: Number(row.granted), nextAt: Number(row.next_at) };
    },
    putBack: (id, count, { perSecond }) =>
      connection.tell("keys.putBack", sql.putBack, [(count * 1000) / perSecond, id]),
  };
}
