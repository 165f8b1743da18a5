/** Schedules: when a job is to be submitted again and again, and what becomes of each time. */

/** `every` counts from an anchor, so that its slots are the same whoever computes them. */
export type Timing =
  | { kind: "cron"; cron: string; timeZone: string }
  | { kind: "every"; everyMs: number; anchorAt: number };

/** What a slot does that comes while the run before is still under way. */
export const OVERLAPS = ["skip", "queue", "replace"] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** What becomes of slots that passed while no scheduler ran. */
export const CATCH_UPS = ["skip", "one", "all"] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/**
 * How a slot may move. One that is `firing` has been decided on: whoever goes on with it submits its job, and nobody may
 * skip it any more.
 */
export const SLOT_MOVES = {
  waiting: ["firing", "skipped"],
  firing: ["fired", "failed"],
  fired: [],
  skipped: [],
  failed: [],
} as const satisfies Record<string, readonly string[]>;
export type SlotState = keyof typeof SLOT_MOVES;

/** Why a slot was passed over. */
export const SKIP_REASONS = {
  missed: "no scheduler ran at its time, and the catch-up policy passes over it",
  overlap: "the run before was still under way",
  paused: "its schedule was paused before its turn came",
  crowded: "as many slots of its schedule were waiting as may",
} as const;
export type SkipReason = keyof typeof SKIP_REASONS;

/** `timed` slots come of the timing, `manual` ones of somebody who wanted a run now. */
export type SlotKind = "timed" | "manual";

/** Which slot: no two of a schedule are at one instant and of one kind. */
export type SlotKey = { scheduleId: string; at: number; kind: SlotKind };
