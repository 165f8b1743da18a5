/** Explains the settings of a schedule. */
import type { ScheduleOut } from "../../../../src/client/wire-types.ts";

export const OVERLAP_TEXT: Readonly<Record<ScheduleOut["overlap"], string>> = {
  skip: "if the previous run is still active, the new run is skipped",
  queue: "the new run waits until the previous run has ended",
  replace: "the previous run is cancelled and the new run starts",
};

export const CATCH_UP_TEXT: Readonly<Record<ScheduleOut["catchUp"], string>> = {
  one: "only the latest missed run is run",
  skip: "missed runs are skipped",
  all: "missed runs are run in order",
};

export const MISSED_TEXT = "A run is missed if no server was running when it was due or shortly after.";

export function timingText({ cron, timeZone, every }: Pick<ScheduleOut, "cron" | "timeZone" | "every">): string {
  return every === null ? `${cron} ${timeZone}` : `every ${every}`;
}
