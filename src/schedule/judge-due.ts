/** Which of a schedule's slots since the last look are fired, and which passed over. Pure. */
import type { SkipReason } from "../domain/schedule.ts";
import type { DueSchedule, NewSlot, Schedule } from "../store/schedule-book.ts";
import { slotsOf } from "./slots.ts";

export type Judged = {
  to: Pick<Schedule, "doneUntil" | "nextAt">;
  slots: readonly NewSlot[];
};

/** Slots that are looked back on after a long time without a scheduler; older ones leave no trace. */
const LOOK_BACK = 1_000;
/** Slots of one schedule that may wait, behind a run that takes long or a broker that is full. */
const OPEN_MOST = 1_000;

/** A slot that is no later than `graceMs` is on time; catch-up is about the others. */
export function judgeDue({ schedule, openSlots }: DueSchedule, now: number, graceMs: number): Judged {
  if (schedule.paused) return { to: { doneUntil: now, nextAt: undefined }, slots: [] };
  const slots = slotsOf(schedule.timing);
  const found = slots.within(schedule.doneUntil, now, LOOK_BACK);
  const missed = found.filter((at) => at < now - graceMs);
  const passedOver = missed.length - Math.min(missed.length, madeUpFor(schedule));
  let open = openSlots;
  const judged = found.map((at, index): NewSlot => {
    const skipped: SkipReason | undefined = index < passedOver ? "missed" : open >= OPEN_MOST ? "crowded" : undefined;
    if (skipped === undefined) open += 1;
    return { at, kind: "timed", ...(skipped === undefined ? {} : { skipped }) };
  });
  return { to: { doneUntil: now, nextAt: slots.after(now) }, slots: judged };
}

function madeUpFor({ catchUp, catchUpMost }: Pick<Schedule, "catchUp" | "catchUpMost">): number {
  if (catchUp === "skip") return 0;
  return catchUp === "one" ? 1 : catchUpMost;
}
