/**
 * Jobs by owner. The broker indexes jobs by id and age only. An entry is added before its job is created, so every job
 * has an entry. A crash in between leaves an entry without a job; readers remove it after `CREATED_WITHIN_MS`.
 */

/** If a job does not exist this long after its entry was added, it was never created or has been removed. */
export const CREATED_WITHIN_MS = 60_000;

export type OwnedJob = {
  jobId: string;
  /** Increases with every entry. Listings use it as cursor. */
  n: number;
  addedAt: number;
};

export interface JobOwners {
  /**
   * Adds a job, counted as open. Returns false and adds nothing if the owner already has `max` open jobs. The check and
   * the insert are atomic across all instances. If the job already has an entry, the entry is unchanged and the result
   * is true.
   */
  add(owner: string, jobId: string, at: number, max: number | undefined): Promise<boolean>;
  /** Newest first. */
  list(owner: string, limit: number, beforeN?: number): Promise<readonly OwnedJob[]>;
  /** Open jobs, oldest first. */
  listOpen(owner: string, limit: number, afterN?: number): Promise<readonly OwnedJob[]>;
  /** Marks jobs as open or as ended. */
  setOpen(jobIds: readonly string[], isOpen: boolean): Promise<void>;
  remove(jobIds: readonly string[]): Promise<void>;
}
