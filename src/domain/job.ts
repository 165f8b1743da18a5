/** The state machine of jobs. The docs and the SQL `CHECK` are tested against this table. */
export const JOB_MOVES = {
  running: ["paused", "finished", "failed", "cancelled"],
  paused: ["running", "cancelled"],
  finished: ["running"], // only by a replay of its dead letters
  failed: ["running"],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type JobState = keyof typeof JOB_MOVES;

/** Whether the job has ended: none of its tasks waits or runs. */
export function hasEnded(state: JobState): boolean {
  return state !== "running" && state !== "paused";
}

/** The ledger of a job: at any instant, `submitted + discovered` equals the sum of all other counts. */
export type Ledger = {
  submitted: number;
  discovered: number;
  queued: number;
  delayed: number;
  leased: number;
  done: number;
  dead: number;
  cancelled: number;
  duplicate: number;
  refused: number;
};

export const LEDGER_INCOME = ["submitted", "discovered"] as const;
export const LEDGER_STATES = [
  "queued",
  "delayed",
  "leased",
  "done",
  "dead",
  "cancelled",
  "duplicate",
  "refused",
] as const;

export function emptyLedger(): Ledger {
  return {
    submitted: 0,
    discovered: 0,
    queued: 0,
    delayed: 0,
    leased: 0,
    done: 0,
    dead: 0,
    cancelled: 0,
    duplicate: 0,
    refused: 0,
  };
}

/** The difference between both sides of the ledger. Anything but 0 is a bug. */
export function ledgerGap(ledger: Ledger): number {
  const income = LEDGER_INCOME.reduce((sum, name) => sum + ledger[name], 0);
  return income - LEDGER_STATES.reduce((sum, name) => sum + ledger[name], 0);
}
