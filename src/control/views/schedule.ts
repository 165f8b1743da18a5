/** Schedules and their runs as the API returns them and as `--json` prints them. */
import type { CatchUp, OccurrenceKind, OccurrenceState, Overlap } from "../../domain/schedule.ts";
import { everyText } from "../../schedule/schedule-schema.ts";
import { withoutWebhookSecret } from "../../schedule/webhook-secret.ts";
import type { Occurrence, PublicSchedule } from "../../store/schedule-store.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import { withMaskedSecrets } from "../../submit/masked-secrets.ts";
import { entryAsWritten } from "../../submit/url-entry.ts";

export type ScheduleOut = {
  id: string;
  name: string;
  cron: string | null;
  timeZone: string | null;
  every: string | null;
  overlap: Overlap;
  catchUp: CatchUp;
  maxCatchUp: number;
  paused: boolean;
  nextAt: string | null;
  createdAt: string;
  job: JobInput;
};

export type RunOut = {
  at: string;
  kind: OccurrenceKind;
  state: OccurrenceState;
  because: string | null;
  jobId: string | null;
  endedAt: string | null;
};

export function scheduleOut(schedule: PublicSchedule): ScheduleOut {
  const { id, name, timing, overlap, catchUp, maxCatchUp, paused, nextAt, createdAt, job } = schedule;
  const isCron = timing.kind === "cron";
  return {
    id,
    name,
    cron: isCron ? timing.cron : null,
    timeZone: isCron ? timing.timeZone : null,
    every: isCron ? null : everyText(timing.everyMs),
    ...{ overlap, catchUp, maxCatchUp, paused },
    nextAt: nextAt === undefined ? null : isoOf(nextAt),
    createdAt: isoOf(createdAt),
    job: withWrittenEntries(withoutWebhookSecret(withMaskedSecrets(job as JobInput))),
  };
}

/** Shows the requests in `urls` as objects. */
function withWrittenEntries<Job extends { urls?: readonly string[] | undefined }>(job: Job): object {
  return job.urls === undefined ? job : { ...job, urls: job.urls.map(entryAsWritten) };
}

export function runOut({ at, kind, state, because, jobId, endedAt }: Occurrence): RunOut {
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
