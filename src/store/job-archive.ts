/**
 * Jobs that have left the broker, and the cleanup state of deleted jobs.
 *
 * A job is archived before the broker forgets it, so it is always in at least one of the two. Readers query the broker
 * first. Deleting a job marks it first; from then on no reader finds it. Any process then removes its rows in batches:
 * a crash leaves the mark, and the next process continues. Marks are never removed: the id of a deleted job is never
 * used again.
 *
 * Bodies are named by their content hash, and pages of several jobs may share one. The transaction that deletes a page
 * records its bodies as orphans. They are checked later: a body that a page refers to by then is kept.
 */

/** The last state of a job in the broker. The archive does not read `view`. */
export type ArchivedJob = { id: string; createdAt: number; finishedAt: number; view: unknown };

type OrphanBody = { ref: string; isReferenced: boolean };

export interface JobArchive {
  /** Adds a job. If it is archived already, the later `finishedAt` wins. A deleted job is not added. */
  keep(job: ArchivedJob): Promise<void>;
  find(jobId: string): Promise<ArchivedJob | "deleted" | undefined>;
  /** The jobs that are archived and not deleted, in any order. */
  findAll(jobIds: readonly string[]): Promise<readonly ArchivedJob[]>;
  /** Newest first. */
  list(limit: number, before?: { createdAt: number }): Promise<readonly ArchivedJob[]>;
  /** Returns the ids of the deleted jobs. */
  filterDeleted(jobIds: readonly string[]): Promise<readonly string[]>;

  /** Marks a job as deleted, and removes it from the archive and its owner. A repeated call keeps the first time. */
  markDeleted(jobId: string, at: number): Promise<void>;
  /** Deleted jobs that may have rows left, in order of deletion, starting at `from`. */
  listUncleaned(limit: number, from?: number): Promise<readonly { jobId: string; deletedAt: number }[]>;
  /** Marks a deleted job as clean: none of its rows are left. */
  setClean(jobId: string): Promise<void>;
  /**
   * Removes up to `max` rows of each kind of a job, and its archive entry, in one transaction. `at` is the time at
   * which its bodies become orphans. Returns true if more rows may be left.
   */
  erase(jobId: string, max: number, at: number): Promise<boolean>;
  /** Ids of a job's tasks whose page was spooled for a parse worker, in order. */
  readPassed(jobId: string, afterTaskId: string, limit: number): Promise<readonly string[]>;

  /** Bodies that became orphans before `since`, and whether a page refers to them now. */
  listOrphanBodies(since: number, limit: number): Promise<readonly OrphanBody[]>;
  /** Removes orphan entries, except those that were recorded again at or after `since`. */
  dropOrphanBodies(refs: readonly string[], since: number): Promise<void>;
}

/** Columns of an archived job, the same in every backend. */
export function archivedRow({ id, createdAt, finishedAt, view }: ArchivedJob) {
  return [id, createdAt, finishedAt, JSON.stringify(view)] as const;
}

export function toArchived(row: Readonly<Record<string, unknown>>): ArchivedJob {
  return {
    id: String(row.id),
    createdAt: Number(row.created_at),
    finishedAt: Number(row.finished_at),
    view: JSON.parse(String(row.view)) as unknown,
  };
}
