/** Schedules of every kind, for a time with a clock change. */
import type { CatchUp, Overlap } from "../../src/domain/schedule.ts";
import type { ScheduleInput } from "../../src/schedule/schedule-schema.ts";
import type { SeededRandom } from "../chaos/seeded-random.ts";
import type { Written } from "./oracle.ts";

export type Planned = {
  input: ScheduleInput;
  written(anchorAt: number): Written;
  overlap: Overlap;
  catchUp: CatchUp;
  maxCatchUp: number;
  queue: string;
  /** The duration of a run. */
  lastsMs: number;
};

const ZONES = ["Europe/Berlin", "Europe/Lisbon", "Europe/Athens", "America/New_York", "Asia/Kolkata", "UTC"];
/** Frequent crons in European time zones around the clock change, some with seconds. */
const CRONS = [
  "* * * * *",
  "*/2 * * * *",
  "*/3 1-3 * * *",
  "1-59/2 * * * *",
  "0,30 * * * * *",
  "*/20 * * * * *",
  "15 */2 * * * *",
  "*/2 2 * * *",
  "* 2,3 * * *",
  "57 * * * *",
  "2 * * * 0",
];
const EVERYS = ["5s", "7s", "20s", "45s", "61s", "2m", "3m 20s"];

/** A third have a fixed time of day, which may fall into the skipped hour, the repeated hour, or neither. */
export function planSchedules(count: number, random: SeededRandom): Planned[] {
  const pick = <T>(from: readonly T[]): T => from[random.between(0, from.length - 1)] as T;
  const fixed = () => `${pick([0, 1, 2, 4, 30, 56, 58, 59])} ${pick([0, 1, 2, 3])} * * *`;
  return Array.from({ length: count }, (_, n): Planned => {
    const every = n % 3 === 0 ? pick(EVERYS) : undefined;
    const cron = n % 3 === 1 ? fixed() : pick(CRONS);
    const timeZone = pick(ZONES);
    const policies = {
      overlap: pick(["skip", "queue", "replace"] as const),
      catchUp: pick(["skip", "one", "all"] as const),
      maxCatchUp: random.between(1, 8),
    };
    const queue = `q${n}`;
    const politeness = { rate: "unlimited", robots: false };
    const job = { urls: [`http://site-${n}.test/`], queue, politeness, retries: { max: 0 } };
    return {
      input: { ...(every === undefined ? { cron, timeZone } : { every }), ...policies, job },
      written: (anchorAt) => (every === undefined ? { cron, timeZone } : { everyMs: msOf(every), anchorAt }),
      ...policies,
      queue,
      lastsMs: pick([0, 0, 5_000, 15_000, 40_000, 150_000]),
    };
  });
}

function msOf(every: string): number {
  const [, minutes = "0", seconds = "0"] = /^(?:(\d+)m ?)?(?:(\d+)s)?$/.exec(every) ?? [];
  return (Number(minutes) * 60 + Number(seconds)) * 1000;
}
