/** Short integers that replace job ids and worker names in rows. */
import { type Database, prepareAll } from "../../runtime/sqlite.ts";

export type Aliases = { job(id: string): number; worker(name: string): number };

/** Aliases never change, so they are cached. The cache is cleared when it contains this many names. */
const MAX_CACHED = 10_000;

export function createAliases(db: Database): Aliases {
  const sql = prepareAll<"createJob" | "findJob" | "createWorker" | "findWorker">(
    db,
    new URL("./sql/aliases.sql", import.meta.url),
  );

  function lookup(create: "createJob" | "createWorker", find: "findJob" | "findWorker"): (name: string) => number {
    const cache = new Map<string, number>();
    return (name) => {
      const cached = cache.get(name);
      if (cached !== undefined) return cached;
      // The caller runs this before its transaction starts. So this insert commits at once, and the cached alias stays
      // valid if the batch is rolled back.
      sql[create].run(name);
      const alias = Number(sql[find].get(name)?.alias);
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(name, alias);
      return alias;
    };
  }

  return { job: lookup("createJob", "findJob"), worker: lookup("createWorker", "findWorker") };
}
