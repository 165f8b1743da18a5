/**
 * What schedulers must remember, in the store beside pages and records. Any number of schedulers and API instances work on
 * one book; every call is one atomic step. Every implementation passes test/contracts/store/describe-schedule-book.ts:
 *
 * S1 A change of a schedule counts only for whoever knows its latest version; `advance` is such a change.
 * S2 `advance` moves `doneUntil` and adds the slots up to it in one step: none is lost, none added twice, and none comes
 *    before one that is there.
 * S3 A slot is claimed by one holder at a time; a claim lapses, and the next one has a higher token.
 * S4 Slots of one schedule are claimed in the order of their instants: the next when the one before has ended.
 * S5 What a holder does with a lapsed claim that somebody else has taken changes nothing.
 * S6 A slot that has been decided on is never skipped, and one that has ended does not change any more.
 */
import type { CatchUp, Overlap, SkipReason, SlotKey, SlotState, Timing } from "../domain/schedule.ts";

export type Schedule = {
  id: string;
  /** Whose it is; undefined where the API has no keys. */
  tenant: string | undefined;
  name: string;
  timing: Timing;
  overlap: Overlap;
  catchUp: CatchUp;
  /** With `all`: how many of the slots that were missed are made up for, the latest of them. */
  catchUpMost: number;
  /** The job as written; the store does not look inside. */
  job: unknown;
  paused: boolean;
  createdAt: number;
  /** Slots up to here have been dealt with. */
  doneUntil: number;
  /** The next slot; undefined while it is paused, or where none is to come. */
  nextAt: number | undefined;
  /** Grows with every change. */
  version: number;
};

/** What people are shown of it. */
export type ShownSchedule = Omit<Schedule, "tenant" | "doneUntil" | "version">;

export type NewSchedule = Omit<Schedule, "version">;

/** A schedule with a slot to come that is due, and how many of its slots have not ended. */
export type DueSchedule = { schedule: Schedule; openSlots: number };

/** A slot as it is added: to be fired, or passed over from the start. */
export type NewSlot = Omit<SlotKey, "scheduleId"> & { skipped?: SkipReason };

export type Slot = SlotKey & {
  state: SlotState;
  /** Why it was skipped, has failed, or waits. */
  because: string | undefined;
  /** Of the job that it led to. */
  jobId: string | undefined;
  endedAt: number | undefined;
};

export type SlotClaim = { slot: Slot; token: number; schedule: Schedule };

export type SlotEnd =
  | { state: "fired"; jobId: string }
  | { state: "skipped"; because: SkipReason }
  | { state: "failed"; because: string };

export type ClaimRequest = {
  now: number;
  claimMs: number;
  most: number;
  /** Only of this schedule. */
  scheduleId?: string;
};

export interface ScheduleBook {
  /** False where there is one of that id. */
  add(schedule: NewSchedule): Promise<boolean>;
  find(id: string): Promise<Schedule | undefined>;
  /** By id; of one tenant, or of all. */
  list(tenant: string | undefined, limit: number, afterId: string): Promise<readonly Schedule[]>;
  /** Changes all but id, tenant and creation. False where it has changed since that version, or is gone. */
  change(schedule: Schedule): Promise<boolean>;
  /** With all its slots. False where there is none. */
  remove(id: string): Promise<boolean>;

  /** Schedules whose next slot is due, the longest due first. */
  listDue(now: number, limit: number): Promise<readonly DueSchedule[]>;
  /** False where the schedule has changed since that version: then nothing is added. Forgets its oldest ended slots. */
  advance(known: Schedule, to: Pick<Schedule, "doneUntil" | "nextAt">, slots: readonly NewSlot[]): Promise<boolean>;

  claim(request: ClaimRequest): Promise<readonly SlotClaim[]>;
  /** From here on the slot is to be fired. False where the claim has gone to another. */
  decide(claim: SlotClaim): Promise<boolean>;
  /** False where the claim has gone to another, or the slot may not end so. */
  settle(claim: SlotClaim, end: SlotEnd, endedAt: number): Promise<boolean>;
  /** Gives a claim back: the slot, and those behind it, wait until then. */
  release(claim: SlotClaim, notBefore: number, because: string): Promise<void>;

  /** Newest first. */
  listSlots(scheduleId: string, limit: number, beforeAt: number): Promise<readonly Slot[]>;
  findSlot(key: SlotKey): Promise<Slot | undefined>;
  /** The latest that led to a job, before this one. */
  findFiredBefore(key: SlotKey): Promise<Slot | undefined>;
}

/** Ended slots that are remembered of a schedule. */
export const SLOTS_KEPT = 1_000;
