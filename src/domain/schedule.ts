/** Schedules: when a job is submitted, and the states of each occurrence. */

/** `every` counts from an anchor, so that every process computes the same occurrences. */
export type Timing =
  | { kind: "cron"; cron: string; timeZone: string }
  | { kind: "every"; everyMs: number; anchorAt: number };

/** What happens to an occurrence if the previous run has not ended. */
export const OVERLAPS = ["skip", "queue", "replace"] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** What happens to occurrences that were due while no scheduler ran. */
export const CATCH_UPS = ["skip", "one", "all"] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/**
 * The state machine of occurrences. In state `firing`, the decision to submit is final: any scheduler that continues
 * the occurrence submits its job and cannot skip it.
 */
export const OCCURRENCE_MOVES = {
  waiting: ["firing", "skipped"],
  firing: ["fired", "failed"],
  fired: [],
  skipped: [],
  failed: [],
} as const satisfies Record<string, readonly string[]>;
export type OccurrenceState = keyof typeof OCCURRENCE_MOVES;

/** Why an occurrence was skipped. */
export const SKIP_REASONS = {
  missed: "no scheduler ran when it was due, and the catch-up policy skips missed occurrences",
  overlap: "the previous run had not ended",
  paused: "its schedule was paused before it started",
  crowded: "the maximum number of occurrences of its schedule was already waiting",
} as const;
export type SkipReason = keyof typeof SKIP_REASONS;

/** `timed` occurrences come from the timing, `manual` ones from a user who started a run. */
export type OccurrenceKind = "timed" | "manual";

/** Identifies an occurrence: a schedule has at most one of each kind at one instant. */
export type OccurrenceKey = { scheduleId: string; at: number; kind: OccurrenceKind };
