/**
 * Fires schedules. Any number of schedulers run on one store. The first one to poll adds the due occurrences of a
 * schedule in one transaction. Each occurrence is claimed by one scheduler. The claims of a dead scheduler expire, and
 * other schedulers claim its occurrences.
 */
import type { Service } from "../runtime/service.ts";
import type { DueSchedule, NewOccurrence } from "../store/schedule-store.ts";
import { type FireDeps, fireOccurrence } from "./fire-occurrence.ts";
import { type Judged, judgeDue } from "./judge-due.ts";

export type SchedulerOptions = {
  everyMs: number;
  /** An occurrence that is at most this late counts as on time. */
  graceMs: number;
  /** How long a claim lasts. */
  claimMs: number;
};

/** The maximum number of schedules and of occurrences per call to the store. */
const MAX_DUE = 100;
const MAX_CLAIMS = 20;
const POSTPONE_MS = 60_000;

export function createScheduler(deps: FireDeps, options: SchedulerOptions): Service {
  const { clock, log } = deps;
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function pollUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A failed poll only delays the work: the next poll finds the same occurrences.
      await pollOnce(deps, options, stopping.signal).catch((cause: unknown) => {
        log.warn("schedule.poll_failed", { cause });
      });
      await clock.sleep(options.everyMs, stopping.signal);
    }
  }

  return {
    start: () => {
      loop ??= pollUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}

/** Adds all due occurrences, and fires all unclaimed ones, unless the signal aborts. */
export async function pollOnce(
  deps: FireDeps,
  options: Pick<SchedulerOptions, "graceMs" | "claimMs">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await addDue(deps, options.graceMs)) === MAX_DUE) {}
  while (!signal.aborted && (await fireUnclaimed(deps, options.claimMs)) > 0) {}
}

/** Adds the due occurrences of up to MAX_DUE schedules. Returns the number of due schedules. */
async function addDue(deps: FireDeps, graceMs: number): Promise<number> {
  const { scheduleStore, clock } = deps;
  const now = Math.floor(clock.now());
  const found = await scheduleStore.listDue(now, MAX_DUE);
  for (const due of found) {
    const { to, occurrences } = judgeOrPostpone(deps, due, now, graceMs);
    // `advance` returns false if another scheduler was first, or the schedule has changed. The next poll reads it
    // again.
    if (await scheduleStore.advance(due.schedule, to, occurrences)) logSkipped(deps, due.schedule.id, occurrences);
  }
  return found.length;
}

/** Postpones a schedule if its occurrences cannot be computed, e.g. if this machine does not know the time zone. */
function judgeOrPostpone({ log }: FireDeps, due: DueSchedule, now: number, graceMs: number): Judged {
  try {
    return judgeDue(due, now, graceMs);
  } catch (cause) {
    const { id, doneUntil } = due.schedule;
    log.error("schedule.judge_failed", { scheduleId: id, cause });
    return { to: { doneUntil, nextAt: now + POSTPONE_MS }, occurrences: [] };
  }
}

function logSkipped({ log }: FireDeps, scheduleId: string, occurrences: readonly NewOccurrence[]): void {
  const count = occurrences.filter(({ skipped }) => skipped !== undefined).length;
  if (count > 0) log.warn("schedule.occurrences_skipped", { scheduleId, occurrences: count });
}

async function fireUnclaimed(deps: FireDeps, claimMs: number): Promise<number> {
  const claims = await deps.scheduleStore.claim({ now: Math.floor(deps.clock.now()), claimMs, max: MAX_CLAIMS });
  await Promise.all(claims.map((claim) => fireOccurrence(deps, claim)));
  return claims.length;
}
