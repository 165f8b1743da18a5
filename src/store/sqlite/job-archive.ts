/** The archive of jobs in a store's file. Called by every server and worker; each call is one transaction. */
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { archivedRow, type JobArchive, toArchived } from "../job-archive.ts";
import type { RunCall } from "./key-book.ts";

type Names =
  | "keep"
  | "findKept"
  | "isDeleted"
  | "listKept"
  | "mark"
  | "dropKept"
  | "dropNote"
  | "listUnclean"
  | "setClean"
  | "findAlias"
  | "dropRecords"
  | "dropInvalid"
  | "dropTries"
  | "emptyMemories"
  | "doomedPages"
  | "dropPage"
  | "loosen"
  | "readPassed"
  | "listLoose"
  | "dropLoose";

/** Of a job without pages; something may be remembered of it all the same. */
const NO_ALIAS = -1;

export function createJobArchive(db: Database, run: RunCall): JobArchive {
  const sql = prepareAll<Names>(db, new URL("./sql/archive.sql", import.meta.url));

  function dropPages(job: number, max: number, at: number): number {
    const pages = sql.doomedPages.all(job, max);
    for (const page of pages) {
      for (const ref of [page.body_ref, page.screenshot_ref, page.pdf_ref]) {
        if (ref !== null) sql.loosen.run(ref as string, at);
      }
      sql.dropPage.run(page.id as number);
    }
    return pages.length;
  }

  function erase(jobId: string, max: number, at: number): boolean {
    const job = Number(sql.findAlias.get(jobId)?.alias ?? NO_ALIAS);
    return db.write(() => {
      sql.dropKept.run(jobId);
      const removed = [sql.dropRecords, sql.dropInvalid, sql.dropTries].map((drop) => drop.run(job, max).changes);
      const memories = sql.emptyMemories.run(jobId, max).changes;
      return [...removed, memories, dropPages(job, max, at)].some((count) => Number(count) >= max);
    });
  }

  return {
    keep: (job) => run("archive.keep", () => void sql.keep.run(...archivedRow(job))),
    find: (jobId) =>
      run("archive.find", () => {
        if (sql.isDeleted.get(jobId) !== undefined) return "deleted";
        const row = sql.findKept.get(jobId);
        return row === undefined ? undefined : toArchived(row);
      }),
    list: (limit, before) =>
      run("archive.list", () => sql.listKept.all(before?.createdAt ?? Number.MAX_VALUE, limit).map(toArchived)),
    deletedAmong: (jobIds) =>
      run("archive.deletedAmong", () => jobIds.filter((jobId) => sql.isDeleted.get(jobId) !== undefined)),
    markDeleted: (jobId, at) =>
      run("archive.markDeleted", () =>
        db.write(() => {
          sql.mark.run(jobId, at);
          sql.dropKept.run(jobId);
          sql.dropNote.run(jobId);
        }),
      ),
    listUnclean: (limit, from = 0) =>
      run("archive.listUnclean", () =>
        sql.listUnclean.all(from, limit).map((row) => ({ jobId: String(row.id), deletedAt: Number(row.deleted_at) })),
      ),
    setClean: (jobId) => run("archive.setClean", () => void sql.setClean.run(jobId)),
    erase: (jobId, max, at) => run("archive.erase", () => erase(jobId, max, at)),
    readPassed: (jobId, afterTaskId, limit) =>
      run("archive.readPassed", () =>
        sql.readPassed.all(jobId, afterTaskId, limit).map(({ task }: Row) => String(task)),
      ),
    listLoose: (since, limit) =>
      run("archive.listLoose", () =>
        sql.listLoose
          .all(since, limit)
          .map((row) => ({ ref: String(row.ref), isReferred: Number(row.is_referred) === 1 })),
      ),
    dropLoose: (refs, since) =>
      run("archive.dropLoose", () =>
        db.write(() => {
          for (const ref of refs) sql.dropLoose.run(ref, since);
        }),
      ),
  };
}
