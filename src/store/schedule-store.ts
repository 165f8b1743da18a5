/**
 * Schedules and their occurrences, in the store. Any number of schedulers and API instances use it at once; every call
 * is one transaction. Every implementation passes test/contracts/store/describe-schedules.ts:
 *
 * S1 A change of a schedule succeeds only if the caller knows its latest version. `advance` is such a change.
 * S2 `advance` moves `doneUntil` and adds the occurrences up to it atomically: none is lost, none is added twice, and
 *    none is added before an existing one.
 * S3 An occurrence has at most one claim at a time. A claim expires; the next claim has a higher token.
 * S4 Occurrences of one schedule are claimed in the order of their instants, each after the previous one has ended.
 * S5 A holder whose claim has expired and was taken by another holder can change nothing.
 * S6 An occurrence in state `firing` is never skipped, and an occurrence that has ended never changes.
 */
import type { CatchUp, OccurrenceKey, OccurrenceState, Overlap, SkipReason, Timing } from "../domain/schedule.ts";

export type Schedule = {
  id: string;
  /** The owner; undefined if the API has no keys. */
  tenant: string | undefined;
  name: string;
  timing: Timing;
  overlap: Overlap;
  catchUp: CatchUp;
  /** With catch-up `all`: the maximum number of missed occurrences to run; the latest ones are chosen. */
  maxCatchUp: number;
  /** The job as submitted. The store does not read it. */
  job: unknown;
  paused: boolean;
  createdAt: number;
  /** Occurrences up to this instant have been added. */
  doneUntil: number;
  /** The next occurrence; undefined if the schedule is paused or has no further occurrence. */
  nextAt: number | undefined;
  /** Increases with every change. */
  version: number;
};

/** The part of a schedule that the API and the CLI show. */
export type PublicSchedule = Omit<Schedule, "tenant" | "doneUntil" | "version">;

export type NewSchedule = Omit<Schedule, "version">;

/** A schedule whose next occurrence is due, and the number of its occurrences that have not ended. */
export type DueSchedule = { schedule: Schedule; openOccurrences: number };

/** An occurrence to add: waiting, or skipped from the start. */
export type NewOccurrence = Omit<OccurrenceKey, "scheduleId"> & { skipped?: SkipReason };

export type Occurrence = OccurrenceKey & {
  state: OccurrenceState;
  /** Why it was skipped, failed, or waits. */
  because: string | undefined;
  /** The job it submitted. */
  jobId: string | undefined;
  endedAt: number | undefined;
};

export type OccurrenceClaim = { occurrence: Occurrence; token: number; schedule: Schedule };

export type OccurrenceEnd =
  | { state: "fired"; jobId: string }
  | { state: "skipped"; because: SkipReason }
  | { state: "failed"; because: string };

export type ClaimRequest = {
  now: number;
  claimMs: number;
  max: number;
  /** If present, claims only occurrences of this schedule. */
  scheduleId?: string;
};

export interface ScheduleStore {
  /** Returns false if a schedule with that id exists. */
  add(schedule: NewSchedule): Promise<boolean>;
  find(id: string): Promise<Schedule | undefined>;
  /** Schedules of one tenant, or of all tenants, in order of id. */
  list(tenant: string | undefined, limit: number, afterId: string): Promise<readonly Schedule[]>;
  /**
   * Changes everything except id, tenant and creation time. Returns false if the version is outdated or the schedule is
   * gone.
   */
  change(schedule: Schedule): Promise<boolean>;
  /** Removes a schedule and all its occurrences. Returns false if there is none. */
  remove(id: string): Promise<boolean>;

  /** Schedules whose next occurrence is due, the earliest first. */
  listDue(now: number, limit: number): Promise<readonly DueSchedule[]>;
  /**
   * Adds the occurrences and moves `doneUntil` and `nextAt`. Returns false and changes nothing if the version of
   * `known` is outdated. Also removes ended occurrences beyond OCCURRENCES_KEPT, the oldest first.
   */
  advance(
    known: Schedule,
    to: Pick<Schedule, "doneUntil" | "nextAt">,
    occurrences: readonly NewOccurrence[],
  ): Promise<boolean>;

  claim(request: ClaimRequest): Promise<readonly OccurrenceClaim[]>;
  /** Moves an occurrence to `firing`: from now on it must be fired. Returns false if another holder has the claim. */
  decide(claim: OccurrenceClaim): Promise<boolean>;
  /** Ends an occurrence. Returns false if another holder has the claim, or if it cannot move to that state. */
  settle(claim: OccurrenceClaim, end: OccurrenceEnd, endedAt: number): Promise<boolean>;
  /** Releases a claim. This occurrence and the later ones of its schedule wait until `notBefore`. */
  release(claim: OccurrenceClaim, notBefore: number, because: string): Promise<void>;

  /** Newest first. */
  listOccurrences(scheduleId: string, limit: number, beforeAt: number): Promise<readonly Occurrence[]>;
  findOccurrence(key: OccurrenceKey): Promise<Occurrence | undefined>;
  /** The latest occurrence before `key` that submitted a job. */
  findFiredBefore(key: OccurrenceKey): Promise<Occurrence | undefined>;
}

/** Number of ended occurrences that are kept for each schedule. */
export const OCCURRENCES_KEPT = 1_000;
