/**
 * Fires schedules. Any number of schedulers run on one store. The first one to poll adds the due occurrences, in one
 * transaction. Each occurrence is claimed by one scheduler. The claims of a dead scheduler expire, and others take them over.
 */
import type { Service } from "../runtime/service.ts";
import type { DueSchedule, NewOccurrence } from "../store/schedule-store.ts";
import { type FireDeps, fireOccurrence } from "./fire-occurrence.ts";
import { type Judged, judgeDue } from "./judge-due.ts";

export type SchedulerOptions = {
  everyMs: number;
  /** How late an occurrence may be and still be on time. */
  graceMs: number;
  /** How long a claim lasts. */
  claimMs: number;
};

/** Schedules and occurrences per call. */
const DUE_MOST = 100;
const CLAIMS_MOST = 20;
const PUT_OFF_MS = 60_000;

export function createScheduler(deps: FireDeps, options: SchedulerOptions): Service {
  const { clock, log } = deps;
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function lookUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A failed poll only delays: the next one finds the same occurrences.
      await lookOnce(deps, options, stopping.signal).catch((cause: unknown) => {
        log.warn("schedule.look_failed", { cause });
      });
      await clock.sleep(options.everyMs, stopping.signal);
    }
  }

  return {
    start: () => {
      loop ??= lookUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}

/** Adds all due occurrences, and fires all unclaimed ones, unless the signal aborts. */
export async function lookOnce(
  deps: FireDeps,
  options: Pick<SchedulerOptions, "graceMs" | "claimMs">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await addDue(deps, options.graceMs)) === DUE_MOST) {}
  while (!signal.aborted && (await fireFree(deps, options.claimMs)) > 0) {}
}

/** Returns the number of due schedules. */
async function addDue(deps: FireDeps, graceMs: number): Promise<number> {
  const { book, clock } = deps;
  const now = Math.floor(clock.now());
  const found = await book.listDue(now, DUE_MOST);
  for (const due of found) {
    const { to, occurrences } = judgeOrPutOff(deps, due, now, graceMs);
    // False: another scheduler has done it, or the schedule has changed. The next poll reads it again.
    if (await book.advance(due.schedule, to, occurrences)) tellSkipped(deps, due.schedule.id, occurrences);
  }
  return found.length;
}

/** Postpones a schedule that cannot be computed here, as with a time zone that this machine does not know. */
function judgeOrPutOff({ log }: FireDeps, due: DueSchedule, now: number, graceMs: number): Judged {
  try {
    return judgeDue(due, now, graceMs);
  } catch (cause) {
    const { id, doneUntil } = due.schedule;
    log.error("schedule.judge_failed", { scheduleId: id, cause });
    return { to: { doneUntil, nextAt: now + PUT_OFF_MS }, occurrences: [] };
  }
}

function tellSkipped({ log }: FireDeps, scheduleId: string, occurrences: readonly NewOccurrence[]): void {
  const count = occurrences.filter(({ skipped }) => skipped !== undefined).length;
  if (count > 0) log.warn("schedule.occurrences_skipped", { scheduleId, occurrences: count });
}

async function fireFree(deps: FireDeps, claimMs: number): Promise<number> {
  const claims = await deps.book.claim({ now: Math.floor(deps.clock.now()), claimMs, most: CLAIMS_MOST });
  await Promise.all(claims.map((claim) => fireOccurrence(deps, claim)));
  return claims.length;
}
