/**
 * Brings a SQLite file to the schema this binary knows: numbered `.sql` files, run in order, never changed later. Called
 * by every process that opens one: the steps run in one write transaction, so of several processes one does them and the
 * rest find them done; a crash leaves all or none.
 */
import { readdirSync, readFileSync } from "node:fs";
import { type ErrorCode, TrawlError } from "../errors.ts";
import type { Database } from "./sqlite.ts";
import type { NamedFile } from "./sqlite-failure.ts";

export type Schema = {
  file: NamedFile;
  /** Where the migrations are; the n-th brings a file to version n. */
  folder: URL;
  /** Marks the file as ours, so that no other SQLite file is taken for it. */
  applicationId: number;
  newer: ErrorCode;
  /** Where the file's path comes from, for messages. */
  setting: string;
};

/** Refuses a file that holds something else, or one that a newer Trawl has written. */
export function migrate(db: Database, schema: Schema): void {
  const steps = readdirSync(schema.folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  if (checkedVersion(db, schema, steps.length) === steps.length) return; // the usual case, without the write lock
  db.write(() => {
    // Another process may have done it since.
    const version = checkedVersion(db, schema, steps.length);
    for (const name of steps.slice(version)) db.exec(readFileSync(new URL(name, schema.folder), "utf8"));
    db.exec(`PRAGMA application_id = ${schema.applicationId}`);
    db.exec(`PRAGMA user_version = ${steps.length}`);
  });
}

/** The file's schema version; 0 for a new file. */
function checkedVersion(db: Database, { file, applicationId, newer, setting }: Schema, known: number): number {
  const { what, path } = file;
  if (pragma(db, "SELECT EXISTS (SELECT 1 FROM sqlite_schema) AS answer") === 0) return 0;
  if (pragma(db, "SELECT application_id AS answer FROM pragma_application_id") !== applicationId) {
    throw new TrawlError(file.unreachable, {
      op: `${what}.open`,
      message: `${what} ${path}: this SQLite file holds something else; name a file of its own in ${setting}`,
      detail: { path },
    });
  }
  const version = pragma(db, "SELECT user_version AS answer FROM pragma_user_version");
  if (version <= known) return version;
  throw new TrawlError(newer, {
    op: `${what}.open`,
    message: `${what} ${path}: its schema is version ${version}, this Trawl knows up to ${known}; upgrade Trawl, or name another file in ${setting}`,
    detail: { path, version, known },
  });
}

function pragma(db: Database, sql: string): number {
  return Number(db.prepare(sql).get()?.answer);
}
