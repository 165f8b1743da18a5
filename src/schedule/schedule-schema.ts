/** A schedule as users write it, over HTTP or on the command line. Unknown keys are errors. */
import { z } from "zod";
import { parseDurationMs, UNIT_MS } from "../domain/duration.ts";
import { CATCH_UPS, OVERLAPS, type Timing } from "../domain/schedule.ts";
import { TrawlError } from "../errors.ts";
import { jobSchema, nameText } from "../submit/job-schema.ts";
import { occurrencesOf } from "./occurrences.ts";

const MIN_EVERY_MS = 1_000;
const MAX_EVERY_MS = 366 * 86_400_000;

const every = z
  .string()
  .refine(
    (text) => {
      const ms = parseDurationMs(text) ?? 0;
      return ms >= MIN_EVERY_MS && ms <= MAX_EVERY_MS;
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
  name: nameText.optional().describe("Default: the job's name, or its first URL."),
  cron: cron.optional().describe('Five fields, or six with seconds first: "0 6 * * 1-5", "@daily".'),
  timeZone: timeZone.optional().describe("The time zone of the cron, such as Europe/Berlin. Default: UTC."),
  every: every
    .optional()
    .describe("Instead of a cron: an interval such as 15m or 6h, from the creation of the schedule."),
  overlap: z
    .enum(OVERLAPS)
    .optional()
    .describe("What happens to a run if the previous run is still in progress. Default: skip."),
  catchUp: z
    .enum(CATCH_UPS)
    .optional()
    .describe(
      "Which missed runs are run later. A run is missed if no server was running when it was due or shortly after. Default: one.",
    ),
  maxCatchUp: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe("With catchUp all: how many of the latest missed runs are run. Default: 10."),
  paused: z.boolean().optional(),
  job: jobSchema.describe("The job that each run submits."),
});

export type ScheduleInput = z.output<typeof scheduleSchema>;
/** A change of a schedule. Missing keys are left unchanged. */
export type ScheduleChange = { [Key in keyof ScheduleInput]?: ScheduleInput[Key] | undefined };

/** The keys that define the time. */
export type WhenInput = Pick<ScheduleInput, "cron" | "timeZone" | "every">;

/** Validates the timing of a schedule. Throws BAD_SCHEDULE. */
export function timingFrom({ cron, timeZone, every }: WhenInput, now: number): Timing {
  if ((cron === undefined) === (every === undefined)) throw bad("takes either cron or every: set exactly one of them");
  if (every !== undefined) {
    if (timeZone !== undefined) throw bad("timeZone: needs cron; an interval (every) does not depend on a time zone");
    return { kind: "every", everyMs: parseDurationMs(every) ?? MIN_EVERY_MS, anchorAt: now };
  }
  const timing: Timing = { kind: "cron", cron: cron ?? "", timeZone: timeZone ?? "UTC" };
  if (occurrencesOf(timing).after(now) === undefined) throw bad(`cron: ${JSON.stringify(cron)} never occurs`);
  return timing;
}

/** Formats a timing: `0 6 * * * Europe/Berlin`, `every 15m`. */
export function timingText(timing: Timing): string {
  return timing.kind === "cron" ? `${timing.cron} ${timing.timeZone}` : `every ${everyText(timing.everyMs)}`;
}

/** Formats an interval without rounding, in the largest unit that divides it. */
export function everyText(everyMs: number): string {
  const units = (["d", "h", "m", "s"] as const).filter((unit) => everyMs % UNIT_MS[unit] === 0);
  const [unit = "ms"] = units;
  return `${everyMs / UNIT_MS[unit]}${unit}`;
}

function bad(message: string): TrawlError {
  return new TrawlError("BAD_SCHEDULE", { op: "schedule.timingFrom", message });
}
