/**
 * Forgets jobs that have ended (F21). The first step takes the job's row away and notes its number; what it has left goes
 * in further steps, by whoever calls, or by reapers. Nothing is looked up by a number without its row, so nobody sees it
 * meanwhile.
 */
import type { JobState } from "../../domain/job.ts";
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import { jobRunning } from "../job-missing.ts";

type Names =
  | "findJob"
  | "note"
  | "useNumbers"
  | "dropJob"
  | "dropScope"
  | "firstNote"
  | "dropSeen"
  | "dropDead"
  | "dropSites"
  | "dropNote";

export type Forgetting = {
  /** Throws JOB_RUNNING. */
  forget(jobId: string, max: number): "gone" | "more";
  /** Removes some of what forgotten jobs have left; true when nothing is. */
  clear(max: number): boolean;
};

export function createForgetting(db: Database): Forgetting {
  const sql = prepareAll<Names>(db, new URL("./sql/forgetting.sql", import.meta.url));

  function detach(jobId: string): void {
    const job = sql.findJob.get(jobId);
    if (job === undefined) return;
    if (job.finished_at === null) throw jobRunning(jobId, job.state as JobState, "frontier.forgetJob");
    const [n, scope] = [job.n as SqlValue, job.scope as SqlValue];
    const isShared = job.expire_after_ms !== null;
    sql.note.run(n, isShared ? null : scope);
    sql.useNumbers.run(n, scope);
    sql.dropJob.run(n);
    if (!isShared) sql.dropScope.run(scope);
  }

  function clear(max: number): boolean {
    if (sql.firstNote.get() === undefined) return true; // the usual case, without the write lock
    return db.write(() => {
      const note = sql.firstNote.get();
      if (note === undefined) return true;
      const job = note.job as SqlValue;
      let room = max - Number(sql.dropDead.run(job, max).changes);
      if (room > 0) room -= Number(sql.dropSites.run(job, room).changes);
      if (room > 0 && note.scope !== null) room -= Number(sql.dropSeen.run(note.scope as SqlValue, room).changes);
      if (room > 0) sql.dropNote.run(job);
      return sql.firstNote.get() === undefined;
    });
  }

  return {
    forget(jobId, max) {
      db.write(() => detach(jobId));
      return clear(max) ? "gone" : "more";
    },
    clear,
  };
}
