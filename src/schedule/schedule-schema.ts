/** A schedule as a person writes it: through the API or on the command line. Unknown keys are refused. */
import { z } from "zod";
import { parseDurationMs, UNIT_MS } from "../domain/duration.ts";
import { CATCH_UPS, OVERLAPS, type Timing } from "../domain/schedule.ts";
import { TrawlError } from "../errors.ts";
import { jobSchema, nameText } from "../submit/job-schema.ts";
import { slotsOf } from "./slots.ts";

const LEAST_EVERY_MS = 1_000;
const MOST_EVERY_MS = 366 * 86_400_000;

const every = z
  .string()
  .refine(
    (text) => {
      const ms = parseDurationMs(text) ?? 0;
      return ms >= LEAST_EVERY_MS && ms <= MOST_EVERY_MS;
    },
    { error: "takes a duration such as 15m, 6h or 1d, from 1s to 366d" },
  )
  .meta({ examples: ["15m", "6h", "1d"] });
const cron = z
  .string()
  .max(200)
  .meta({ examples: ["0 6 * * 1-5", "*/15 * * * *", "@daily"] });
const timeZone = z
  .string()
  .max(100)
  .meta({ examples: ["Europe/Berlin", "America/New_York", "UTC"] });

export const scheduleSchema = z.strictObject({
  name: nameText.optional().describe("What to call it; else the job's name, or its first URL."),
  cron: cron.optional().describe('Five fields, or six with seconds first: "0 6 * * 1-5", "@daily".'),
  timeZone: timeZone.optional().describe("Whose clock the cron goes by: Europe/Berlin. UTC unless given."),
  every: every.optional().describe("In place of a cron: 15m, 6h; counted from when the schedule is made."),
  overlap: z
    .enum(OVERLAPS)
    .optional()
    .describe("What a slot does while the run before is under way: skip unless given."),
  catchUp: z.enum(CATCH_UPS).optional().describe("What becomes of slots while no scheduler ran: one unless given."),
  catchUpMost: z.int().min(1).max(1_000).optional().describe("With catchUp all: so many, the latest; 10 unless given."),
  paused: z.boolean().optional(),
  job: jobSchema.describe("What each slot submits."),
});

export type ScheduleInput = z.output<typeof scheduleSchema>;
/** What is missing stays as it is. */
export type ScheduleChange = { [Key in keyof ScheduleInput]?: ScheduleInput[Key] | undefined };

/** Those that say when. */
export type WhenInput = Pick<ScheduleInput, "cron" | "timeZone" | "every">;

/** Throws BAD_SCHEDULE. */
export function timingFrom({ cron, timeZone, every }: WhenInput, now: number): Timing {
  if ((cron === undefined) === (every === undefined)) throw bad("takes either cron or every: one of them, not both");
  if (every !== undefined) {
    if (timeZone !== undefined) throw bad("timeZone: goes with cron; every counts time itself, whatever clocks do");
    return { kind: "every", everyMs: parseDurationMs(every) ?? LEAST_EVERY_MS, anchorAt: now };
  }
  const timing: Timing = { kind: "cron", cron: cron ?? "", timeZone: timeZone ?? "UTC" };
  if (slotsOf(timing).after(now) === undefined) throw bad(`cron: ${JSON.stringify(cron)} never comes`);
  return timing;
}

/** In words: `0 6 * * * Europe/Berlin`, `every 15m`. */
export function timingWords(timing: Timing): string {
  return timing.kind === "cron" ? `${timing.cron} ${timing.timeZone}` : `every ${everyWords(timing.everyMs)}`;
}

/** Exact, unlike what is shown of other durations: the largest unit that it is a whole number of. */
export function everyWords(everyMs: number): string {
  const units = (["d", "h", "m", "s"] as const).filter((unit) => everyMs % UNIT_MS[unit] === 0);
  const [unit = "ms"] = units;
  return `${everyMs / UNIT_MS[unit]}${unit}`;
}

function bad(message: string): TrawlError {
  return new TrawlError("BAD_SCHEDULE", { op: "schedule.timingFrom", message });
}
