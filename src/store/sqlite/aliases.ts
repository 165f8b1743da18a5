/** Short numbers in place of long names that many rows have. */
import { type Database, prepareAll } from "../../runtime/sqlite.ts";

export type Aliases = { job(id: string): number; worker(name: string): number };

/** Aliases never change, so they are kept; a process that has met more names than this looks them up anew. */
const KEPT_MOST = 10_000;

export function createAliases(db: Database): Aliases {
  const sql = prepareAll<"createJob" | "findJob" | "createWorker" | "findWorker">(
    db,
    new URL("./sql/aliases.sql", import.meta.url),
  );

  function aliasing(create: "createJob" | "createWorker", find: "findJob" | "findWorker"): (name: string) => number {
    const known = new Map<string, number>();
    return (name) => {
      const kept = known.get(name);
      if (kept !== undefined) return kept;
      // Committed on its own: an alias outlives a batch that fails, and so may be kept at once.
      sql[create].run(name);
      const alias = Number(sql[find].get(name)?.alias);
      if (known.size >= KEPT_MOST) known.clear();
      known.set(name, alias);
      return alias;
    };
  }

  return { job: aliasing("createJob", "findJob"), worker: aliasing("createWorker", "findWorker") };
}
