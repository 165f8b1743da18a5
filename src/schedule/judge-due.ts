/** Decides which occurrences since the last poll are fired, and which are skipped. It has no side effects. */
import type { SkipReason } from "../domain/schedule.ts";
import type { DueSchedule, NewOccurrence, Schedule } from "../store/schedule-store.ts";
import { occurrencesOf } from "./occurrences.ts";

export type Judged = {
  to: Pick<Schedule, "doneUntil" | "nextAt">;
  occurrences: readonly NewOccurrence[];
};

/** At most this many occurrences are considered after a long time without a scheduler. Older ones are not recorded. */
const MAX_CONSIDERED = 1_000;
/** The maximum number of occurrences of a schedule that wait, for example for a long run or a full broker. */
const MAX_OPEN = 1_000;

/** An occurrence that is at most `graceMs` late counts as on time. The catch-up policy applies to the others. */
export function judgeDue({ schedule, openOccurrences }: DueSchedule, now: number, graceMs: number): Judged {
  if (schedule.paused) return { to: { doneUntil: now, nextAt: undefined }, occurrences: [] };
  const occurrences = occurrencesOf(schedule.timing);
  const found = occurrences.within(schedule.doneUntil, now, MAX_CONSIDERED);
  const missed = found.filter((at) => at < now - graceMs);
  const missedCount = missed.length - Math.min(missed.length, catchUpCount(schedule));
  let open = openOccurrences;
  const judged = found.map((at, index): NewOccurrence => {
    const skipped: SkipReason | undefined = index < missedCount ? "missed" : open >= MAX_OPEN ? "crowded" : undefined;
    if (skipped === undefined) open += 1;
    return { at, kind: "timed", ...(skipped === undefined ? {} : { skipped }) };
  });
  return { to: { doneUntil: now, nextAt: occurrences.after(now) }, occurrences: judged };
}

function catchUpCount({ catchUp, maxCatchUp }: Pick<Schedule, "catchUp" | "maxCatchUp">): number {
  if (catchUp === "skip") return 0;
  return catchUp === "one" ? 1 : maxCatchUp;
}
