/** Small values that all workers share (F24). */
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import type { SharedValue } from "../frontier.ts";

type SharedValues = {
  find(key: string): SharedValue | undefined;
  keep(key: string, value: string, condition: { version: number; ttlMs: number }): number | undefined;
};

export function createSharedValues(db: Database, now: () => number): SharedValues {
  const sql = prepareAll<"find" | "keep" | "expire">(db, new URL("./sql/shared-values.sql", import.meta.url));

  function find(key: string): SharedValue | undefined {
    const row = sql.find.get(key, now());
    return row === undefined ? undefined : { version: Number(row.version), value: String(row.value) };
  }

  return {
    find,
    keep: (key, value, { version, ttlMs }) =>
      db.write(() => {
        sql.expire.run(now());
        if ((find(key)?.version ?? 0) !== version) return undefined;
        sql.keep.run(key, version + 1, value, now() + ttlMs);
        return version + 1;
      }),
  };
}
