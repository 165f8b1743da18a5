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
import type { MemoryWrite } from "../page-memory.ts";
import type { PageWrite, TryWrite, WriteVerdict } from "../store.ts";
import { createAliases } from "./aliases.ts";
import type { Memories } from "./memories.ts";
import { type PageRow, toRow } from "./page-row.ts";
import { createTryWriter } from "./try-writer.ts";

const WRITE_SQL = new URL("./sql/write-page.sql", import.meta.url);

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

export function createPageWriter(
  db: Database,
  memories: Pick<Memories, "toRow" | "insert">,
): (
  batch: readonly PageWrite[],
  tries: readonly TryWrite[],
  remembered: readonly MemoryWrite[],
) => readonly WriteVerdict[] {
  const sql = prepareAll<WriteStatement>(db, WRITE_SQL);
  const aliases = createAliases(db);
  const tryWriter = createTryWriter(db, aliases);

  function insert(id: number, job: number, row: PageRow): boolean {
    const { changes } = sql.insertPage.run(id, job, row.taskId, row.token, ...row.columns, ...runColumns(row));
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

  function runColumns({ run }: PageRow): SqlValue[] {
    if (run === undefined) return [null, null, null, null, null];
    return [aliases.worker(run.worker), run.attempt, run.leasedAt, run.endedAt, run.step];
  }

  return (batch, tries, remembered) => {
    if (batch.length + tries.length + remembered.length === 0) return [];
    // Before the transaction, so that other processes do not wait for our JSON.
    const rows = batch.map((write) => ({ job: aliases.job(write.jobId), row: toRow(write) }));
    for (const { row } of rows) if (row.run !== undefined) aliases.worker(row.run.worker);
    const tryRows = tries.map(tryWriter.toRow);
    const memoryRows = remembered.map(memories.toRow);
    return db.write(() => {
      const firstId = Number(sql.nextId.get()?.next_id);
      let id = firstId;
      const verdicts = rows.map(({ job, row }): WriteVerdict => {
        const outcome = insert(id, job, row) ? "inserted" : replace(id, job, row);
        if (outcome === "inserted" || outcome === "replaced") id += idsFor(row);
        return outcome === "stale" ? "stale" : "written";
      });
      if (id > firstId) sql.keepNextId.run(id);
      // After the pages: one of the same batch may be of a later lease.
      for (const row of tryRows) tryWriter.insert(row);
      for (const row of memoryRows) memories.insert(row);
      return verdicts;
    });
  };
}

/** A page, its records and its invalid records are in three tables, so they can share their ids. */
function idsFor({ records, invalid }: PageRow): number {
  return Math.max(1, records.length, invalid.length);
}
