/**
 * Forgets jobs that have ended (F21). The first transaction removes the job's row and adds its number to `forgotten`.
 * Later ones, by the caller or by reapers, remove its other rows. Nothing finds those rows without the job's row, so
 * the job is invisible from the first transaction on. A crash leaves the number in `forgotten`, and a reaper continues.
 */
import type { JobState } from "../../domain/job.ts";
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import { jobRunning } from "../job-errors.ts";

type Names =
  | "findJob"
  | "addForgotten"
  | "raiseUsedNumbers"
  | "dropJob"
  | "dropScope"
  | "firstForgotten"
  | "dropSeen"
  | "dropDead"
  | "dropSites"
  | "dropForgotten";

type Forgetter = {
  /** Throws JOB_RUNNING. */
  forget(jobId: string, max: number): "gone" | "more";
  /** Removes up to `max` remaining rows of forgotten jobs. True when none remain. */
  clear(max: number): boolean;
};

export function createForgetter(db: Database): Forgetter {
  const sql = prepareAll<Names>(db, new URL("./sql/forget.sql", import.meta.url));

  function detach(jobId: string): void {
    const job = sql.findJob.get(jobId);
    if (job === undefined) return;
    if (job.finished_at === null) throw jobRunning(jobId, job.state as JobState, "frontier.forgetJob");
    const [n, scope] = [job.n as SqlValue, job.scope as SqlValue];
    const isShared = job.expire_after_ms !== null;
    sql.addForgotten.run(n, isShared ? null : scope);
    sql.raiseUsedNumbers.run(n, scope);
    sql.dropJob.run(n);
    if (!isShared) sql.dropScope.run(scope);
  }

  function clear(max: number): boolean {
    // Usually there is no forgotten job. This check takes no write lock.
    if (sql.firstForgotten.get() === undefined) return true;
    return db.write(() => {
      const forgotten = sql.firstForgotten.get();
      if (forgotten === undefined) return true;
      const job = forgotten.job as SqlValue;
      let left = max - Number(sql.dropDead.run(job, max).changes);
      if (left > 0) left -= Number(sql.dropSites.run(job, left).changes);
      if (left > 0 && forgotten.scope !== null)
        left -= Number(sql.dropSeen.run(forgotten.scope as SqlValue, left).changes);
      if (left > 0) sql.dropForgotten.run(job);
      return sql.firstForgotten.get() === undefined;
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
