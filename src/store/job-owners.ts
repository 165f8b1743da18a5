/**
 * Jobs by owner. The broker indexes jobs by id and age only. An entry is added before its job is created, so every job
 * has one. A crash in between leaves an entry without a job; readers remove it after `CREATED_WITHIN_MS`.
 */

/** If a job does not exist this long after its entry was added, it was never created or has been removed. */
export const CREATED_WITHIN_MS = 60_000;

export type OwnedJob = {
  jobId: string;
  /** Increases with every entry. The cursor of listings. */
  n: number;
  addedAt: number;
};

export interface JobOwners {
  /**
   * Adds a job, counted as open. Returns false and adds nothing if the owner already has `most` open jobs. The check
   * and the insert are atomic across all instances. If the job has an entry already, it is unchanged and the result is
   * true.
   */
  add(owner: string, jobId: string, at: number, max: number | undefined): Promise<boolean>;
  /** Newest first. */
  list(owner: string, limit: number, beforeN?: number): Promise<readonly OwnedJob[]>;
  /** Open jobs, oldest first. */
  listOpen(owner: string, limit: number, afterN?: number): Promise<readonly OwnedJob[]>;
  /** Records that jobs have ended, or run again. */
  setOpen(jobIds: readonly string[], isOpen: boolean): Promise<void>;
  remove(jobIds: readonly string[]): Promise<void>;
}
