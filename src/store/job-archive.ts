/**
 * What is left of jobs that have left the broker, and what is to go of those that somebody has deleted.
 *
 * A job is archived before the broker forgets it, so it is always to be found in one of the two; whoever looks, looks in
 * the broker first. A deleted job is marked first, and is not there for anybody from then on; what it has left is removed
 * in bounded steps, by whoever comes by: a crash leaves the mark, and the next one goes on. Marks stay for good: the id of
 * a deleted job is never used again.
 *
 * Bodies are named by what is in them, and pages of several jobs may share one. Those of deleted pages are noted as loose,
 * in the step that deletes the pages, and looked at later: what a page refers to by then stays.
 */

/** A job as the broker last had it; the archive does not look inside its view. */
export type ArchivedJob = { id: string; createdAt: number; finishedAt: number; view: unknown };

export type LooseBody = { ref: string; isReferred: boolean };

export interface JobArchive {
  /** The later end wins where it is there already. One that was deleted does not come back. */
  keep(job: ArchivedJob): Promise<void>;
  find(jobId: string): Promise<ArchivedJob | "deleted" | undefined>;
  /** Newest first. */
  list(limit: number, before?: { createdAt: number }): Promise<readonly ArchivedJob[]>;
  /** Which of these somebody has deleted. */
  deletedAmong(jobIds: readonly string[]): Promise<readonly string[]>;

  /** From now on it is not there, nor is it anybody's. The first time counts. */
  markDeleted(jobId: string, at: number): Promise<void>;
  /** Deleted jobs of which something may be left, the longest deleted first, from those of that instant on. */
  listUnclean(limit: number, from?: number): Promise<readonly { jobId: string; deletedAt: number }[]>;
  /** Nothing is left of it. */
  setClean(jobId: string): Promise<void>;
  /** Removes up to `max` rows of each kind that the store has of a job, and what was kept of it, in one step. True if there may be more. */
  erase(jobId: string, max: number, at: number): Promise<boolean>;
  /** Tasks of a job whose page was passed on to be parsed, in order. */
  readPassed(jobId: string, afterTaskId: string, limit: number): Promise<readonly string[]>;

  /** Bodies that were loose before `since`, and whether a page refers to them now. */
  listLoose(since: number, limit: number): Promise<readonly LooseBody[]>;
  /** Those of them that were not loosened again since. */
  dropLoose(refs: readonly string[], since: number): Promise<void>;
}

/** How an archived job is kept, the same in every backend. */
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
