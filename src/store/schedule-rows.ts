/** How schedules and slots are kept in rows, the same in every backend. */
import type { Timing } from "../domain/schedule.ts";
import type { DueSchedule, NewSchedule, Schedule, Slot } from "./schedule-book.ts";

type Row = Readonly<Record<string, unknown>>;

export function newScheduleRow(schedule: NewSchedule) {
  const { id, tenant, createdAt, doneUntil, nextAt } = schedule;
  return [id, tenant ?? null, ...scheduleWords(schedule), createdAt, doneUntil, nextAt ?? null] as const;
}

export function scheduleWords({ name, timing, overlap, catchUp, catchUpMost, job, paused }: NewSchedule) {
  const [words, work] = [JSON.stringify(timing), JSON.stringify(job)];
  return [name, words, overlap, catchUp, catchUpMost, work, paused ? 1 : 0] as const;
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
    catchUpMost: Number(row.catch_up_most),
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
  return schedule === undefined ? [] : [{ schedule, openSlots: Number(row.open_slots) }];
}

export function toSlot(row: Row): Slot {
  return {
    scheduleId: String(row.schedule),
    at: Number(row.at),
    kind: row.kind as Slot["kind"],
    state: row.state as Slot["state"],
    because: row.because === null ? undefined : String(row.because),
    jobId: row.job_id === null ? undefined : String(row.job_id),
    endedAt: row.ended_at === null ? undefined : Number(row.ended_at),
  };
}
