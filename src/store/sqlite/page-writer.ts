/**
 * Writes batches of pages for any number of workers in any number of processes on one file. A batch is one transaction:
 * a crash leaves all of it or none. SQLite lets one writer in at a time, so ids are given out in the order of commits
 * and a reader that follows by cursor misses nothing.
 *
 * A task's page belongs to the highest token that wrote it. The same token again changes nothing, so a reader does not
 * see its records twice. A higher one replaces page and records, which get new ids: a reader that is past the old ones
 * meets the new ones as further records, and has to start over to see each page once.
 */
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import type { PageWrite, WriteVerdict } from "../store.ts";
import { type PageRow, toRow } from "./page-row.ts";

/** Aliases never change, so they are kept; a process that has served more jobs than this looks them up anew. */
const ALIASES_MOST = 10_000;

const WRITE_SQL = new URL("./sql/write-page.sql", import.meta.url);
const ALIAS_SQL = new URL("./sql/alias-job.sql", import.meta.url);

type WriteStatement =
  | "nextId"
  | "keepNextId"
  | "insertPage"
  | "insertRecord"
  | "insertInvalid"
  | "findWritten"
  | "dropRecords"
  | "dropInvalid"
  | "dropPage";

export function createPageWriter(db: Database): (batch: readonly PageWrite[]) => readonly WriteVerdict[] {
  const sql = prepareAll<WriteStatement>(db, WRITE_SQL);
  const aliasOf = createAliases(db);

  function insert(id: number, job: number, row: PageRow): boolean {
    const { changes } = sql.insertPage.run(id, job, row.taskId, row.token, ...row.columns);
    if (changes === 0) return false;
    row.records.forEach((fields, index) => {
      sql.insertRecord.run(id + index, job, id, fields);
    });
    row.invalid.forEach(({ fields, reason }, index) => {
      sql.insertInvalid.run(id + index, job, id, fields, reason);
    });
    return true;
  }

  /** For a task that has a page already. */
  function replace(id: number, job: number, row: PageRow): "replaced" | "same" | "stale" {
    const old = sql.findWritten.get(job, row.taskId);
    if (old === undefined) throw new Error(`task ${row.taskId}: its page was there, and is not`);
    const token = Number(old.token);
    if (row.token === token) return "same";
    if (row.token < token) return "stale";
    const oldId = old.id as SqlValue;
    sql.dropRecords.run(oldId, old.records as SqlValue);
    sql.dropInvalid.run(oldId, old.invalid as SqlValue);
    sql.dropPage.run(oldId);
    insert(id, job, row);
    return "replaced";
  }

  return (batch) => {
    if (batch.length === 0) return [];
    // Before the transaction, so that other processes do not wait for our JSON.
    const rows = batch.map((write) => ({ job: aliasOf(write.jobId), row: toRow(write) }));
    return db.write(() => {
      const firstId = Number(sql.nextId.get()?.next_id);
      let id = firstId;
      const verdicts = rows.map(({ job, row }): WriteVerdict => {
        const outcome = insert(id, job, row) ? "inserted" : replace(id, job, row);
        if (outcome === "inserted" || outcome === "replaced") id += idsFor(row);
        return outcome === "stale" ? "stale" : "written";
      });
      if (id > firstId) sql.keepNextId.run(id);
      return verdicts;
    });
  };
}

/** A page, its records and its invalid records are in three tables, so they can share their ids. */
function idsFor({ records, invalid }: PageRow): number {
  return Math.max(1, records.length, invalid.length);
}

function createAliases(db: Database): (jobId: string) => number {
  const sql = prepareAll<"createAlias" | "findAlias">(db, ALIAS_SQL);
  const known = new Map<string, number>();
  return (jobId) => {
    const kept = known.get(jobId);
    if (kept !== undefined) return kept;
    // Committed on its own: an alias outlives a batch that fails, and so may be kept at once.
    sql.createAlias.run(jobId);
    const alias = Number(sql.findAlias.get(jobId)?.alias);
    if (known.size >= ALIASES_MOST) known.clear();
    known.set(jobId, alias);
    return alias;
  };
}
