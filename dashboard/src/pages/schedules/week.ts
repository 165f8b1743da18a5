/** The week to come, day by day, from what the server says is to run. */
import type { UpcomingOut } from "../../../../src/api/wire-schedules.ts";

export type Planned = { id: string; name: string; at: number };
/** `often`: schedules with more runs than were told: one line instead of hundreds. */
export type Week = { days: readonly { startAt: number; runs: readonly Planned[] }[]; often: readonly UpcomingOut[] };

export const DAYS = 7;

/** By the clock of this browser: days begin at its midnight, also where clocks change in between. */
export function weekOf(upcoming: readonly UpcomingOut[], now: number): Week {
  const starts = Array.from({ length: DAYS + 1 }, (_, nth) => midnight(now, nth));
  const runs = upcoming
    .filter(({ more }) => !more)
    .flatMap(({ id, name, runs: times }) => times.map((at) => ({ id, name, at: Date.parse(at) })))
    .sort((one, other) => one.at - other.at);
  const days = starts.slice(0, DAYS).map((startAt, nth) => {
    const endAt = starts[nth + 1] ?? startAt;
    return { startAt, runs: runs.filter(({ at }) => at >= startAt && at < endAt) };
  });
  return { days, often: upcoming.filter(({ more }) => more) };
}

function midnight(now: number, daysOn: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + daysOn).getTime();
}
