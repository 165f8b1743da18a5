/** What the API says of schedules. Instants are ISO 8601 in UTC; what is not known is null, never missing. */
import { z } from "zod";
import { CATCH_UPS, OVERLAPS, SLOT_MOVES, type SlotState } from "../domain/schedule.ts";
import { withoutWebhookSecret } from "../schedule/masked-webhook.ts";
import { everyWords } from "../schedule/schedule-schema.ts";
import type { ShownSchedule, Slot } from "../store/schedule-book.ts";
import { jobSchema } from "../submit/job-schema.ts";
import { withMaskedSecrets } from "../submit/masked-secrets.ts";

const instant = z.iso.datetime();

export const scheduleSchemaOut = z.strictObject({
  id: z.string(),
  name: z.string(),
  cron: z.string().nullable(),
  timeZone: z.string().nullable(),
  every: z.string().nullable(),
  overlap: z.enum(OVERLAPS),
  catchUp: z.enum(CATCH_UPS),
  catchUpMost: z.int(),
  paused: z.boolean(),
  nextAt: instant.nullable().describe("Its next slot; null while it is paused."),
  createdAt: instant,
  job: jobSchema.describe(
    "What each slot submits, as written, but for what its headers hold, what its browser fills in, and the secret of its webhook.",
  ),
});

export type ScheduleOut = z.output<typeof scheduleSchemaOut>;

export function scheduleOut(schedule: ShownSchedule): ScheduleOut {
  const { id, name, timing, overlap, catchUp, catchUpMost, paused, nextAt, createdAt, job } = schedule;
  const isCron = timing.kind === "cron";
  return {
    id,
    name,
    cron: isCron ? timing.cron : null,
    timeZone: isCron ? timing.timeZone : null,
    every: isCron ? null : everyWords(timing.everyMs),
    ...{ overlap, catchUp, catchUpMost, paused },
    nextAt: nextAt === undefined ? null : isoOf(nextAt),
    createdAt: isoOf(createdAt),
    job: withoutWebhookSecret(withMaskedSecrets(job as z.output<typeof jobSchema>)),
  };
}

export const runSchemaOut = z.strictObject({
  at: instant.describe("When it was to be."),
  kind: z.enum(["timed", "manual"]).describe("Of its time, or asked for."),
  state: z.enum(Object.keys(SLOT_MOVES) as [SlotState, ...SlotState[]]),
  because: z.string().nullable().describe("Why it was skipped, has failed, or waits."),
  jobId: z.string().nullable().describe("Of the job it led to."),
  endedAt: instant.nullable().describe("When that was settled."),
});

export const upcomingSchemaOut = z.strictObject({
  id: z.string(),
  name: z.string(),
  runs: z.array(instant),
  more: z.boolean().describe("There are more of them until then than are told."),
});

export type UpcomingOut = z.output<typeof upcomingSchemaOut>;

export type RunOut = z.output<typeof runSchemaOut>;

export function runOut({ at, kind, state, because, jobId, endedAt }: Slot): RunOut {
  return {
    at: isoOf(at),
    kind,
    state,
    because: because ?? null,
    jobId: jobId ?? null,
    endedAt: endedAt === undefined ? null : isoOf(endedAt),
  };
}

export function isoOf(at: number): string {
  return new Date(at).toISOString();
}
