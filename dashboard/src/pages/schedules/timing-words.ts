/** What the choices of a schedule mean. */
import type { ScheduleOut } from "../../../../src/api/wire-schedules.ts";

export const OVERLAP_WORDS: Readonly<Record<ScheduleOut["overlap"], string>> = {
  skip: "a slot that comes while the run before is under way is passed over",
  queue: "it waits until the run before has ended",
  replace: "the run before is cancelled, and its own begins",
};

export const CATCH_UP_WORDS: Readonly<Record<ScheduleOut["catchUp"], string>> = {
  one: "of the slots that were missed while no server ran, the latest is made up for",
  skip: "none of them is",
  all: "the latest of them are, in order",
};

export function timingWords({ cron, timeZone, every }: Pick<ScheduleOut, "cron" | "timeZone" | "every">): string {
  return every === null ? `${cron} ${timeZone}` : `every ${every}`;
}
