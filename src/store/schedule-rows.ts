/** Conversion between schedules, occurrences and rows, shared by all backends. */
import type { Timing } from "../domain/schedule.ts";
import type { DueSchedule, NewSchedule, Occurrence, Schedule } from "./schedule-store.ts";

type Row = Readonly<Record<string, unknown>>;

export function newScheduleRow(schedule: NewSchedule) {
  const { id, tenant, createdAt } = schedule;
  return { id, tenant: tenant ?? null, createdAt, ...scheduleColumns(schedule) };
}

/** The columns that `change` may write. */
export function scheduleColumns(schedule: NewSchedule) {
  const { name, timing, overlap, catchUp, maxCatchUp, job, paused, doneUntil, nextAt } = schedule;
  return {
    ...{ name, overlap, catchUp, maxCatchUp, doneUntil },
    timing: JSON.stringify(timing),
    job: JSON.stringify(job),
    paused: paused ? 1 : 0,
    nextAt: nextAt ?? null,
  };
}

export function toSchedule(row: Row | undefined): Schedule | undefined {
  if (row === undefined) return undefined;
  return {
    id: String(row.id),
    tenant: row.tenant === null ? undefined : String(row.tenant),
    name: String(row.name),
    timing: JSON.parse(String(row.timing)) as Timing,
    overlap: row.overlap as Schedule["overlap"],
    catchUp: row.catch_up as Schedule["catchUp"],
    maxCatchUp: Number(row.catch_up_most),
    job: JSON.parse(String(row.job)) as unknown,
    paused: Number(row.paused) === 1,
    createdAt: Number(row.created_at),
    doneUntil: Number(row.done_until),
    nextAt: row.next_at === null ? undefined : Number(row.next_at),
    version: Number(row.version),
  };
}

export function toDue(row: Row): DueSchedule[] {
  const schedule = toSchedule(row);
  return schedule === undefined ? [] : [{ schedule, openOccurrences: Number(row.open_slots) }];
}

export function toOccurrence(row: Row): Occurrence {
  return {
    scheduleId: String(row.schedule),
    at: Number(row.at),
    kind: row.kind as Occurrence["kind"],
    state: row.state as Occurrence["state"],
    because: row.because === null ? undefined : String(row.because),
    jobId: row.job_id === null ? undefined : String(row.job_id),
    endedAt: row.ended_at === null ? undefined : Number(row.ended_at),
  };
}
