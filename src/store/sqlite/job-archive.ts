/** The job archive in SQLite. Every server and worker calls it; each call is one transaction. */
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import type { RunOnFile } from "../../runtime/sqlite-errors.ts";
import { archivedRow, type JobArchive, toArchived } from "../job-archive.ts";

type Names =
  | "keep"
  | "findArchived"
  | "findAllArchived"
  | "isDeleted"
  | "filterDeleted"
  | "listArchived"
  | "mark"
  | "dropArchived"
  | "dropOwner"
  | "listUncleaned"
  | "setClean"
  | "findAlias"
  | "dropRecords"
  | "dropInvalid"
  | "dropAttempts"
  | "emptyMemories"
  | "listPages"
  | "dropPage"
  | "addOrphanBody"
  | "readPassed"
  | "listOrphanBodies"
  | "dropOrphanBodies";

/** Used as the alias of a job that has none. The job may still have page memories, which refer to its id. */
const NO_ALIAS = -1;

export function createJobArchive(db: Database, run: RunOnFile): JobArchive {
  const sql = prepareAll<Names>(db, new URL("./sql/archive.sql", import.meta.url));

  function dropPages(job: number, max: number, at: number): number {
    const pages = sql.listPages.all(job, max);
    for (const page of pages) {
      for (const ref of [page.body_ref, page.screenshot_ref, page.pdf_ref]) {
        if (ref !== null) sql.addOrphanBody.run(ref as string, at);
      }
      sql.dropPage.run(page.id as number);
    }
    return pages.length;
  }

  function erase(jobId: string, max: number, at: number): boolean {
    const job = Number(sql.findAlias.get(jobId)?.alias ?? NO_ALIAS);
    return db.write(() => {
      sql.dropArchived.run(jobId);
      const removed = [sql.dropRecords, sql.dropInvalid, sql.dropAttempts].map((drop) => drop.run(job, max).changes);
      const memories = sql.emptyMemories.run(jobId, max).changes;
      return [...removed, memories, dropPages(job, max, at)].some((count) => Number(count) >= max);
    });
  }

  return {
    keep: (job) => run("archive.keep", () => void sql.keep.run(...archivedRow(job))),
    find: (jobId) =>
      run("archive.find", () => {
        if (sql.isDeleted.get(jobId) !== undefined) return "deleted";
        const row = sql.findArchived.get(jobId);
        return row === undefined ? undefined : toArchived(row);
      }),
    findAll: (jobIds) => run("archive.findAll", () => sql.findAllArchived.all(JSON.stringify(jobIds)).map(toArchived)),
    list: (limit, before) =>
      run("archive.list", () => sql.listArchived.all(before?.createdAt ?? Number.MAX_VALUE, limit).map(toArchived)),
    filterDeleted: (jobIds) =>
      run("archive.filterDeleted", () => sql.filterDeleted.all(JSON.stringify(jobIds)).map(({ id }) => String(id))),
    markDeleted: (jobId, at) =>
      run("archive.markDeleted", () =>
        db.write(() => {
          sql.mark.run(jobId, at);
          sql.dropArchived.run(jobId);
          sql.dropOwner.run(jobId);
        }),
      ),
    listUncleaned: (limit, from = 0) =>
      run("archive.listUncleaned", () =>
        sql.listUncleaned.all(from, limit).map((row) => ({ jobId: String(row.id), deletedAt: Number(row.deleted_at) })),
      ),
    setClean: (jobId) => run("archive.setClean", () => void sql.setClean.run(jobId)),
    erase: (jobId, max, at) => run("archive.erase", () => erase(jobId, max, at)),
    readPassed: (jobId, afterTaskId, limit) =>
      run("archive.readPassed", () =>
        sql.readPassed.all(jobId, afterTaskId, limit).map(({ task }: Row) => String(task)),
      ),
    listOrphanBodies: (since, limit) =>
      run("archive.listOrphanBodies", () =>
        sql.listOrphanBodies
          .all(since, limit)
          .map((row) => ({ ref: String(row.ref), isReferenced: Number(row.is_referenced) === 1 })),
      ),
    dropOrphanBodies: (refs, since) =>
      run("archive.dropOrphanBodies", () =>
        db.write(() => {
          for (const ref of refs) sql.dropOrphanBodies.run(ref, since);
        }),
      ),
  };
}
