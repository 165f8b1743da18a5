/** Looks into the rows of a broker that is a file: what the program says of itself is not asked. */
import { existsSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";

type Sqlite = {
  DatabaseSync: new (
    path: string,
    options: { readOnly: boolean },
  ) => { prepare(sql: string): { get(): unknown }; close(): void };
};

/** Tasks that are nobody's now and count a crash: somebody died with them. 0 where the broker is no file. */
export function countCrashes(folder: string): number {
  const file = join(folder, ".trawl/broker.db");
  if (!existsSync(file)) return 0;
  const require = createRequire(import.meta.url);
  const { DatabaseSync } = require(isBuiltin("node:sqlite") ? "node:sqlite" : "@photostructure/sqlite") as Sqlite;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const row = db.prepare("SELECT count(*) AS n FROM tasks WHERE crashes > 0 AND state <> 'leased'").get();
    return Number((row as { n: number | bigint }).n);
  } finally {
    db.close();
  }
}
