/** Brings a SQLite file up to the schema this binary knows: numbered `.sql` files, run in order, never changed later. */
import { readdirSync, readFileSync } from "node:fs";
import { type ErrorCode, TrawlError } from "../errors.ts";
import type { Database } from "./sqlite.ts";

export function migrate(db: Database, folder: URL, newerCode: ErrorCode, path: string): void {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  if (versionOf(db) === files.length) return; // the usual case, without the write lock
  db.write(() => {
    const version = versionOf(db);
    if (version > files.length) {
      throw new TrawlError(newerCode, {
        op: "open",
        message: `${path} has schema version ${version}, this Trawl knows up to ${files.length}; upgrade Trawl or use another file`,
        detail: { path, version, known: files.length },
      });
    }
    for (const name of files.slice(version)) db.exec(readFileSync(new URL(name, folder), "utf8"));
    db.exec(`PRAGMA user_version = ${files.length}`);
  });
}

function versionOf(db: Database): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version);
}
