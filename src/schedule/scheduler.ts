/**
 * Fires schedules. Any number of schedulers run on one book: which slots are due is judged by whichever comes first, in one
 * step; each slot is then claimed by one of them. One that dies leaves claims behind, which lapse and are taken over.
 */
import type { Service } from "../runtime/service.ts";
import type { DueSchedule, NewSlot } from "../store/schedule-book.ts";
import { type FireDeps, fireSlot } from "./fire-slot.ts";
import { type Judged, judgeDue } from "./judge-due.ts";

export type SchedulerOptions = {
  everyMs: number;
  /** How late a slot may be and still be on time. */
  graceMs: number;
  /** How long a slot stays with a scheduler that does not settle it. */
  claimMs: number;
};

/** Schedules and slots dealt with at a time. */
const DUE_MOST = 100;
const CLAIMS_MOST = 20;
const PUT_OFF_MS = 60_000;

export function createScheduler(deps: FireDeps, options: SchedulerOptions): Service {
  const { clock, log } = deps;
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function lookUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A failed look is only late work: the next one finds the same slots.
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

/** Adds the slots that are due, and fires what is free; all there is, unless it is to stop. */
export async function lookOnce(
  deps: FireDeps,
  options: Pick<SchedulerOptions, "graceMs" | "claimMs">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await addDue(deps, options.graceMs)) === DUE_MOST) {}
  while (!signal.aborted && (await fireFree(deps, options.claimMs)) > 0) {}
}

/** How many schedules were due. */
async function addDue(deps: FireDeps, graceMs: number): Promise<number> {
  const { book, clock } = deps;
  const now = Math.floor(clock.now());
  const found = await book.listDue(now, DUE_MOST);
  for (const due of found) {
    const { to, slots } = judgeOrPutOff(deps, due, now, graceMs);
    // Where it says no, another scheduler has done it, or the schedule has changed: the next look goes by what it is then.
    if (await book.advance(due.schedule, to, slots)) tellSkipped(deps, due.schedule.id, slots);
  }
  return found.length;
}

/** One that cannot be judged here must not keep the others waiting: a time zone that this machine does not know. */
function judgeOrPutOff({ log }: FireDeps, due: DueSchedule, now: number, graceMs: number): Judged {
  try {
    return judgeDue(due, now, graceMs);
  } catch (cause) {
    const { id, doneUntil } = due.schedule;
    log.error("schedule.judge_failed", { scheduleId: id, cause });
    return { to: { doneUntil, nextAt: now + PUT_OFF_MS }, slots: [] };
  }
}

function tellSkipped({ log }: FireDeps, scheduleId: string, slots: readonly NewSlot[]): void {
  const count = slots.filter(({ skipped }) => skipped !== undefined).length;
  if (count > 0) log.warn("schedule.slots_skipped", { scheduleId, slots: count });
}

async function fireFree(deps: FireDeps, claimMs: number): Promise<number> {
  const claims = await deps.book.claim({ now: Math.floor(deps.clock.now()), claimMs, most: CLAIMS_MOST });
  await Promise.all(claims.map((claim) => fireSlot(deps, claim)));
  return claims.length;
}
