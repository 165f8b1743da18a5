/**
 * Writes batches of pages for any number of workers, in any number of processes that share one file. A batch is one
 * transaction: a crash leaves all of it or none. SQLite has one writer at a time, so ids are assigned in commit order
 * and a reader that follows a job by cursor misses no row.
 *
 * A task's page belongs to the highest token that wrote it. Writing the same token again changes nothing, so a reader
 * does not see its records twice. A higher token replaces the page and its records, which get new ids. A reader that
 * has passed the old ids receives the new records as additional ones. To see each page once, it must start over.
 */
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import type { MemoryWrite } from "../page-memory.ts";
import type { AttemptWrite, PageWrite, WriteVerdict } from "../store.ts";
import { createAliases } from "./aliases.ts";
import { createAttemptWriter } from "./attempt-writer.ts";
import type { PageMemories } from "./page-memories.ts";
import { type PageRow, toRow } from "./page-row.ts";

const WRITE_SQL = new URL("./sql/write-page.sql", import.meta.url);

type WriteStatement =
  | "nextId"
  | "setNextId"
  | "insertPage"
  | "insertRecord"
  | "insertInvalid"
  | "findWritten"
  | "dropRecords"
  | "dropInvalid"
  | "dropPage";

export function createBatchWriter(
  db: Database,
  memories: Pick<PageMemories, "toRow" | "insert">,
): (
  batch: readonly PageWrite[],
  attempts: readonly AttemptWrite[],
  remembered: readonly MemoryWrite[],
) => readonly WriteVerdict[] {
  const sql = prepareAll<WriteStatement>(db, WRITE_SQL);
  const aliases = createAliases(db);
  const attemptWriter = createAttemptWriter(db, aliases);

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

  /** Replaces the page of a task if the new token is higher. */
  function replace(id: number, job: number, row: PageRow): "replaced" | "same" | "stale" {
    const old = sql.findWritten.get(job, row.taskId);
    if (old === undefined) throw new Error(`task ${row.taskId}: its page conflicts with an insert but cannot be found`);
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

  return (batch, attempts, remembered) => {
    if (batch.length + attempts.length + remembered.length === 0) return [];
    // Serialize before the transaction, to keep the write lock short.
    const rows = batch.map((write) => ({ job: aliases.job(write.jobId), row: toRow(write) }));
    for (const { row } of rows) if (row.run !== undefined) aliases.worker(row.run.worker);
    const attemptRows = attempts.map(attemptWriter.toRow);
    const memoryRows = remembered.map(memories.toRow);
    return db.write(() => {
      const firstId = Number(sql.nextId.get()?.next_id);
      let id = firstId;
      const verdicts = rows.map(({ job, row }): WriteVerdict => {
        const outcome = insert(id, job, row) ? "inserted" : replace(id, job, row);
        if (outcome === "inserted" || outcome === "replaced") id += idsFor(row);
        return outcome === "stale" ? "stale" : "written";
      });
      if (id > firstId) sql.setNextId.run(id);
      // After the pages, because a page of this batch may be from a later lease of the same task.
      for (const row of attemptRows) attemptWriter.insert(row);
      for (const row of memoryRows) memories.insert(row);
      return verdicts;
    });
  };
}

/** The number of ids that a page takes. Its records and invalid records are in other tables and share these ids. */
function idsFor({ records, invalid }: PageRow): number {
  return Math.max(1, records.length, invalid.length);
}
