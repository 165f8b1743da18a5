/**
 * Whose a job is, by owner: what the broker, which knows jobs by id and age, cannot be asked. It is noted before the job
 * is made, so that no job is without: a crash in between leaves a note of a job that is not there, which is forgotten
 * when it is met.
 */

/** A job that is not there so long after it was noted was never made, or is gone. */
export const MADE_WITHIN_MS = 60_000;

export type OwnedJob = {
  jobId: string;
  /** Grows with every note; the cursor of listings. */
  n: number;
  notedAt: number;
};

export interface JobOwners {
  /**
   * Notes a job, counted as open. False, and nothing noted, where the owner has `most` open ones already: in one step
   * for all instances. A job that is noted already stays as it is, and the answer is true.
   */
  note(owner: string, jobId: string, at: number, most: number | undefined): Promise<boolean>;
  /** Newest first. */
  list(owner: string, limit: number, beforeN?: number): Promise<readonly OwnedJob[]>;
  /** Oldest first. */
  listOpen(owner: string, limit: number, afterN?: number): Promise<readonly OwnedJob[]>;
  /** These have ended, or run again. */
  setOpen(jobIds: readonly string[], isOpen: boolean): Promise<void>;
  forget(jobIds: readonly string[]): Promise<void>;
}
