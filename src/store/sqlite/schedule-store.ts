/** Schedules in SQLite. Every scheduler and API instance calls it; each call is one transaction. */
import type { OccurrenceKey, SkipReason } from "../../domain/schedule.ts";
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import type { RunOnFile } from "../../runtime/sqlite-errors.ts";
import { newScheduleRow, scheduleColumns, toDue, toOccurrence, toSchedule } from "../schedule-rows.ts";
import {
  type ClaimRequest,
  type NewOccurrence,
  OCCURRENCES_KEPT,
  type Occurrence,
  type OccurrenceClaim,
  type OccurrenceEnd,
  type Schedule,
  type ScheduleStore,
} from "../schedule-store.ts";

type Names =
  | "addSchedule"
  | "findSchedule"
  | "listSchedules"
  | "listOfTenant"
  | "changeSchedule"
  | "removeOccurrences"
  | "removeSchedule"
  | "listDue"
  | "advance"
  | "addOccurrence"
  | "forgetOccurrences"
  | "findFree"
  | "findFirstOpen"
  | "holdOccurrence"
  | "decideOccurrence"
  | "settleOccurrence"
  | "releaseOccurrence"
  | "listOccurrences"
  | "findOccurrence"
  | "findFiredBefore";

export function createScheduleStore(db: Database, run: RunOnFile): ScheduleStore {
  const sql = prepareAll<Names>(db, new URL("./sql/schedules.sql", import.meta.url));
  const find = (id: string) => toSchedule(sql.findSchedule.get(id));

  function advance(
    known: Schedule,
    to: Pick<Schedule, "doneUntil" | "nextAt">,
    occurrences: readonly NewOccurrence[],
  ): boolean {
    return db.write(() => {
      const { changes } = sql.advance.run(to.doneUntil, to.nextAt ?? null, known.id, known.version);
      if (changes === 0) return false;
      for (const { at, kind, skipped } of occurrences)
        addOccurrence({ scheduleId: known.id, at, kind }, skipped, to.doneUntil);
      if (occurrences.length > 0) sql.forgetOccurrences.run(known.id, OCCURRENCES_KEPT);
      return true;
    });
  }

  function addOccurrence(key: OccurrenceKey, skipped: SkipReason | undefined, now: number): void {
    const isSkipped = skipped !== undefined;
    const state = isSkipped ? "skipped" : "waiting";
    sql.addOccurrence.run({ ...keyOf(key), state, because: skipped ?? null, endedAt: isSkipped ? now : null });
  }

  function claim({ now, claimMs, max, scheduleId }: ClaimRequest): OccurrenceClaim[] {
    const findFree = () =>
      scheduleId === undefined ? sql.findFree.all(now, max) : sql.findFirstOpen.all(scheduleId, now);
    if (findFree().length === 0) return []; // usually none is due, and no write lock is needed
    return db.write(() =>
      findFree().flatMap((row) => {
        const schedule = find(String(row.schedule));
        if (schedule === undefined) return [];
        sql.holdOccurrence.run(now + claimMs, row.schedule as string, row.at as number, row.kind as string);
        return [{ occurrence: toOccurrence(row), token: Number(row.token) + 1, schedule }];
      }),
    );
  }

  function settle({ occurrence, token }: OccurrenceClaim, end: OccurrenceEnd, endedAt: number): boolean {
    const from = end.state === "skipped" ? "waiting" : "firing";
    const because = end.state === "fired" ? null : end.because;
    const jobId = end.state === "fired" ? end.jobId : null;
    const values = { ...keyOf(occurrence), token, from, state: end.state, because, jobId, endedAt };
    return sql.settleOccurrence.run(values).changes !== 0;
  }

  return {
    add: (schedule) => run("schedules.add", () => sql.addSchedule.run(newScheduleRow(schedule)).changes !== 0),
    find: (id) => run("schedules.find", () => find(id)),
    list: (tenant, limit, afterId) =>
      run("schedules.list", () => {
        const rows =
          tenant === undefined ? sql.listSchedules.all(afterId, limit) : sql.listOfTenant.all(tenant, afterId, limit);
        return rows.flatMap((row) => toSchedule(row) ?? []);
      }),
    change: (schedule) =>
      run("schedules.change", () => {
        const { id, version } = schedule;
        return sql.changeSchedule.run({ ...scheduleColumns(schedule), id, version }).changes !== 0;
      }),
    remove: (id) =>
      run("schedules.remove", () =>
        db.write(() => {
          sql.removeOccurrences.run(id);
          return sql.removeSchedule.run(id).changes !== 0;
        }),
      ),
    listDue: (now, limit) => run("schedules.listDue", () => sql.listDue.all(now, limit).flatMap(toDue)),
    advance: (known, to, occurrences) => run("schedules.advance", () => advance(known, to, occurrences)),
    claim: (request) => run("schedules.claim", () => claim(request)),
    decide: ({ occurrence: { scheduleId, at, kind }, token }) =>
      run("schedules.decide", () => sql.decideOccurrence.run(scheduleId, at, kind, token).changes !== 0),
    settle: (held, end, endedAt) => run("schedules.settle", () => settle(held, end, endedAt)),
    release: ({ occurrence, token }, notBefore, because) =>
      run("schedules.release", () => {
        sql.releaseOccurrence.run({ ...keyOf(occurrence), token, freeAt: notBefore, because });
      }),
    listOccurrences: (scheduleId, limit, beforeAt) =>
      run("schedules.listOccurrences", () => sql.listOccurrences.all(scheduleId, beforeAt, limit).map(toOccurrence)),
    findOccurrence: ({ scheduleId, at, kind }) =>
      run("schedules.findOccurrence", () => optional(sql.findOccurrence.get(scheduleId, at, kind))),
    findFiredBefore: ({ scheduleId, at, kind }) =>
      run("schedules.findFiredBefore", () => optional(sql.findFiredBefore.get(scheduleId, at, kind))),
  };
}

function keyOf({ scheduleId, at, kind }: OccurrenceKey) {
  return { scheduleId, at, kind };
}

function optional(row: Row | undefined): Occurrence | undefined {
  return row === undefined ? undefined : toOccurrence(row);
}
