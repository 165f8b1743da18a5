/** The book of schedules in a store's file. Called by every scheduler and API instance; each call is one transaction. */
import type { SkipReason, SlotKey } from "../../domain/schedule.ts";
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import {
  type ClaimRequest,
  type NewSlot,
  type Schedule,
  type ScheduleBook,
  SLOTS_KEPT,
  type Slot,
  type SlotClaim,
  type SlotEnd,
} from "../schedule-book.ts";
import { newScheduleRow, scheduleWords, toDue, toSchedule, toSlot } from "../schedule-rows.ts";

type Names =
  | "addSchedule"
  | "findSchedule"
  | "listSchedules"
  | "listOfTenant"
  | "changeSchedule"
  | "removeSlots"
  | "removeSchedule"
  | "listDue"
  | "advance"
  | "addSlot"
  | "forgetSlots"
  | "findFree"
  | "findFirstOpen"
  | "holdSlot"
  | "decideSlot"
  | "settleSlot"
  | "releaseSlot"
  | "listSlots"
  | "findSlot"
  | "findFiredBefore";

/** Gives errors of the file their code. */
type Run = <T>(op: string, work: () => T) => Promise<T>;

export function createScheduleBook(db: Database, run: Run): ScheduleBook {
  const sql = prepareAll<Names>(db, new URL("./sql/schedules.sql", import.meta.url));
  const find = (id: string) => toSchedule(sql.findSchedule.get(id));

  function advance(known: Schedule, to: Pick<Schedule, "doneUntil" | "nextAt">, slots: readonly NewSlot[]): boolean {
    return db.write(() => {
      const { changes } = sql.advance.run(to.doneUntil, to.nextAt ?? null, known.id, known.version);
      if (changes === 0) return false;
      for (const { at, kind, skipped } of slots) addSlot({ scheduleId: known.id, at, kind }, skipped, to.doneUntil);
      if (slots.length > 0) sql.forgetSlots.run(known.id, known.id, known.id, SLOTS_KEPT);
      return true;
    });
  }

  function addSlot({ scheduleId, at, kind }: SlotKey, skipped: SkipReason | undefined, now: number): void {
    const state = skipped === undefined ? "waiting" : "skipped";
    sql.addSlot.run(scheduleId, at, kind, state, skipped ?? null, skipped === undefined ? null : now);
  }

  function claim({ now, claimMs, most, scheduleId }: ClaimRequest): SlotClaim[] {
    const free = () =>
      scheduleId === undefined ? sql.findFree.all(now, most) : sql.findFirstOpen.all(scheduleId, now);
    if (free().length === 0) return []; // the usual case, without the write lock
    return db.write(() =>
      free().flatMap((row) => {
        const schedule = find(String(row.schedule));
        if (schedule === undefined) return [];
        sql.holdSlot.run(now + claimMs, row.schedule as string, row.at as number, row.kind as string);
        return [{ slot: toSlot(row), token: Number(row.token) + 1, schedule }];
      }),
    );
  }

  function settle({ slot, token }: SlotClaim, end: SlotEnd, endedAt: number): boolean {
    const from = end.state === "skipped" ? "waiting" : "firing";
    const because = end.state === "fired" ? null : end.because;
    const jobId = end.state === "fired" ? end.jobId : null;
    return sql.settleSlot.run(end.state, because, jobId, endedAt, ...keyOf(slot), token, from).changes !== 0;
  }

  return {
    add: (schedule) => run("schedules.add", () => sql.addSchedule.run(...newScheduleRow(schedule)).changes !== 0),
    find: (id) => run("schedules.find", () => find(id)),
    list: (tenant, limit, afterId) =>
      run("schedules.list", () => {
        const rows =
          tenant === undefined ? sql.listSchedules.all(afterId, limit) : sql.listOfTenant.all(tenant, afterId, limit);
        return rows.flatMap((row) => toSchedule(row) ?? []);
      }),
    change: (schedule) =>
      run("schedules.change", () => {
        const { doneUntil, nextAt, id, version } = schedule;
        const { changes } = sql.changeSchedule.run(...scheduleWords(schedule), doneUntil, nextAt ?? null, id, version);
        return changes !== 0;
      }),
    remove: (id) =>
      run("schedules.remove", () =>
        db.write(() => {
          sql.removeSlots.run(id);
          return sql.removeSchedule.run(id).changes !== 0;
        }),
      ),
    listDue: (now, limit) => run("schedules.listDue", () => sql.listDue.all(now, limit).flatMap(toDue)),
    advance: (known, to, slots) => run("schedules.advance", () => advance(known, to, slots)),
    claim: (request) => run("schedules.claim", () => claim(request)),
    decide: ({ slot, token }) => run("schedules.decide", () => sql.decideSlot.run(...keyOf(slot), token).changes !== 0),
    settle: (held, end, endedAt) => run("schedules.settle", () => settle(held, end, endedAt)),
    release: ({ slot, token }, notBefore, because) =>
      run("schedules.release", () => void sql.releaseSlot.run(notBefore, because, ...keyOf(slot), token)),
    listSlots: (scheduleId, limit, beforeAt) =>
      run("schedules.listSlots", () => sql.listSlots.all(scheduleId, beforeAt, limit).map(toSlot)),
    findSlot: (key) => run("schedules.findSlot", () => optional(sql.findSlot.get(...keyOf(key)))),
    findFiredBefore: (key) => run("schedules.findFiredBefore", () => optional(sql.findFiredBefore.get(...keyOf(key)))),
  };
}

function keyOf({ scheduleId, at, kind }: SlotKey): [string, number, string] {
  return [scheduleId, at, kind];
}

function optional(row: Row | undefined): Slot | undefined {
  return row === undefined ? undefined : toSlot(row);
}
