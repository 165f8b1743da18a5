/**
 * Migrates a SQLite file to the schema of this version: runs numbered `.sql` files in order. The statements of a
 * released migration never change. Every process that opens a file calls `migrate`. All migrations run in one write
 * transaction: one process runs them, the others find them done, and a crash leaves all or none of them applied.
 */
import { readdirSync, readFileSync } from "node:fs";
import { type ErrorCode, TrawlError } from "../errors.ts";
import type { Database } from "./sqlite.ts";
import type { SqliteFile } from "./sqlite-errors.ts";

type Schema = {
  file: SqliteFile;
  /** Folder of the migrations. The n-th migration upgrades a file from version n - 1 to n. */
  folder: URL;
  /** Identifies files of Trawl, so that the SQLite file of another application is not used by mistake. */
  applicationId: number;
  newer: ErrorCode;
  /** The setting with the file's path, for error messages. */
  setting: string;
};

/**
 * Applies the missing migrations. Throws if the file belongs to another application, or if a newer Trawl has written
 * it.
 */
export function migrate(db: Database, schema: Schema): void {
  const steps = readdirSync(schema.folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  if (checkedVersion(db, schema, steps.length) === steps.length) return; // most opens end here and need no write lock
  db.write(() => {
    // Another process may have migrated the file since the first check.
    const version = checkedVersion(db, schema, steps.length);
    for (const name of steps.slice(version)) db.exec(readFileSync(new URL(name, schema.folder), "utf8"));
    db.exec(`PRAGMA application_id = ${schema.applicationId}`);
    db.exec(`PRAGMA user_version = ${steps.length}`);
  });
}

/** The file's schema version; 0 for a new file. */
function checkedVersion(db: Database, { file, applicationId, newer, setting }: Schema, known: number): number {
  const { what, path } = file;
  if (queryNumber(db, "SELECT EXISTS (SELECT 1 FROM sqlite_schema) AS answer") === 0) return 0;
  if (queryNumber(db, "SELECT application_id AS answer FROM pragma_application_id") !== applicationId) {
    throw new TrawlError(file.unreachable, {
      op: `${what}.open`,
      message: `${what} ${path}: this SQLite file belongs to another application; set another file in ${setting}`,
      detail: { path },
    });
  }
  const version = queryNumber(db, "SELECT user_version AS answer FROM pragma_user_version");
  if (version <= known) return version;
  throw new TrawlError(newer, {
    op: `${what}.open`,
    message: `${what} ${path}: its schema has version ${version}, this Trawl supports up to ${known}; upgrade Trawl, or set another file in ${setting}`,
    detail: { path, version, known },
  });
}

function queryNumber(db: Database, sql: string): number {
  return Number(db.prepare(sql).get()?.answer);
}
