/** Schemas of schedules and their runs. Instants are ISO 8601 in UTC. Unknown values are null, never missing. */
import { z } from "zod";
import type { RunOut, ScheduleOut } from "../../control/views/schedule.ts";
import { CATCH_UPS, OCCURRENCE_MOVES, type OccurrenceState, OVERLAPS } from "../../domain/schedule.ts";
import { jobSchema } from "../../submit/job-schema.ts";

const instant = z.iso.datetime();

export const scheduleSchemaOut = z.strictObject({
  id: z.string(),
  name: z.string(),
  cron: z.string().nullable(),
  timeZone: z.string().nullable(),
  every: z.string().nullable(),
  overlap: z.enum(OVERLAPS),
  catchUp: z.enum(CATCH_UPS),
  maxCatchUp: z.int(),
  paused: z.boolean(),
  nextAt: instant.nullable().describe("The next run. null while the schedule is paused."),
  createdAt: instant,
  job: jobSchema.describe(
    "The job that each run submits. Header values and text typed into pages are masked; the webhook secret is left out.",
  ),
}) satisfies z.ZodType<ScheduleOut>;

export const runSchemaOut = z.strictObject({
  at: instant.describe("The planned time of the run."),
  kind: z.enum(["timed", "manual"]).describe("timed: by its cron or interval. manual: requested by a user."),
  state: z.enum(Object.keys(OCCURRENCE_MOVES) as [OccurrenceState, ...OccurrenceState[]]),
  because: z.string().nullable().describe("Why the run was skipped, failed or waits."),
  jobId: z.string().nullable().describe("The job that the run submitted."),
  endedAt: instant.nullable().describe("When the run was submitted, skipped or failed."),
}) satisfies z.ZodType<RunOut>;

export const upcomingSchemaOut = z.strictObject({
  id: z.string(),
  name: z.string(),
  runs: z.array(instant),
  more: z.boolean().describe("The schedule has more runs in this time than the list contains."),
});

export type UpcomingOut = z.output<typeof upcomingSchemaOut>;
