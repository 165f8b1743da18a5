/**
 * Builds the entries that the store keeps about attempts, for `trawl trace`. The worker calls it when an attempt begins
 * and when the attempt has a result. If the process crashes, the lease has no end entry. `trawl trace` shows that as a
 * crash.
 */
import { type Claim, claimKey, type Grant, type TaskOutcome } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { AttemptRun, AttemptWrite } from "../../store/store.ts";
import type { TaskResult } from "../task/task-result.ts";
import type { Attempt } from "./task-observer.ts";

/** A result with the entries that the store keeps about its attempt. */
export type AttemptResult = TaskResult & {
  attempt: Attempt;
  /** Undefined if the job stores no pages. */
  run: AttemptRun | undefined;
  /** The entry of an attempt that ended without a page. */
  entry: AttemptWrite | undefined;
};

type AttemptRecorder = {
  begin(grant: Grant, isAlone: boolean): Attempt;
  finish(attempt: Attempt, result: TaskResult): AttemptResult;
  /** The entries of attempts that are returned to the frontier without a result. */
  returned(claims: readonly Claim[]): AttemptWrite[];
};

/**
 * The maximum number of open attempts. An attempt that lost its lease may never end here, so the oldest attempts are
 * dropped.
 */
const MAX_OPEN = 2_000;

export function createAttemptRecorder(
  { clock }: { clock: Pick<Clock, "now"> },
  { worker }: { worker: string },
): AttemptRecorder {
  const open = new Map<string, Attempt>();

  function runOf({ grant, leasedAt }: Attempt, endedAt: number): AttemptRun {
    return { worker, step: grant.kind, attempt: grant.attempt, leasedAt, endedAt };
  }

  return {
    begin(grant, isAlone) {
      const leasedAt = clock.now();
      const attempt: Attempt = { grant, isAlone, leasedAt, plan: undefined, endedAt: leasedAt };
      open.set(claimKey(grant), attempt);
      const [oldest] = open.size > MAX_OPEN ? open.keys() : [];
      if (oldest !== undefined) open.delete(oldest);
      return attempt;
    },
    finish(attempt, result) {
      open.delete(claimKey(attempt.grant));
      attempt.endedAt = clock.now();
      const run = isRecorded(attempt) ? runOf(attempt, attempt.endedAt) : undefined;
      return { ...result, attempt, run, entry: run === undefined ? undefined : entryOf(attempt, result, run) };
    },
    returned(claims) {
      const attempts = claims.flatMap((claim) => open.get(claimKey(claim)) ?? []);
      for (const claim of claims) open.delete(claimKey(claim));
      return attempts
        .filter(isRecorded)
        .map((attempt) => writeOf(attempt, runOf(attempt, clock.now()), { outcome: "returned", because: RETURNED }));
    },
  };
}

const RETURNED = "the worker stopped and returned the task";

/** If the job could not be loaded, it is not known whether it stores pages. The attempt is then recorded. */
function isRecorded({ plan }: Attempt): boolean {
  return plan?.spec.keep.pages ?? true;
}

function entryOf(
  attempt: Attempt,
  { settlement, write, spooled, passedOn }: TaskResult,
  run: AttemptRun,
): AttemptWrite | undefined {
  const { outcome, discovered } = settlement;
  switch (outcome.kind) {
    case "done": {
      if (write !== undefined) return undefined;
      const because = passedOn ?? `passed on to ${discovered[0]?.kind ?? "another task"}`;
      return writeOf(attempt, run, { outcome: "passed", because, status: spooled?.page.status });
    }
    case "refused":
      return writeOf(attempt, run, { outcome: "refused", because: outcome.because });
    case "dead":
    case "retry":
      return writeOf(attempt, run, { ...outcome, outcome: expectedOutcome(attempt, outcome) });
  }
}

/**
 * The entry is written before the frontier settles the task, so that every settled attempt has an entry. It therefore
 * predicts the decision of the frontier: a task that fails again after its last allowed retry is dead.
 */
function expectedOutcome(
  { grant, plan }: Attempt,
  { kind }: TaskOutcome & { kind: "retry" | "dead" },
): "retry" | "dead" {
  return plan !== undefined && grant.attempt > plan.spec.retries.max ? "dead" : kind;
}

type Ending = Pick<AttemptWrite, "outcome" | "because"> & { status?: number | undefined; detail?: string | undefined };

function writeOf({ grant }: Attempt, run: AttemptRun, { outcome, because, status, detail }: Ending): AttemptWrite {
  const { jobId, taskId, token, url } = grant;
  return { jobId, taskId, token, url, run, outcome, because, status, detail };
}
