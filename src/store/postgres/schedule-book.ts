/**
 * The book of schedules on PostgreSQL. Each call is one statement, and may be made twice where its answer got lost: then a
 * change of its own looks like another's, whoever made it reads anew, and a claim lapses.
 */
import type { SlotKey } from "../../domain/schedule.ts";
import { readSql } from "../../runtime/sqlite.ts";
import {
  type ClaimRequest,
  type NewSlot,
  type Schedule,
  type ScheduleBook,
  SLOTS_KEPT,
  type SlotClaim,
  type SlotEnd,
} from "../schedule-book.ts";
import { newScheduleRow, scheduleWords, toDue, toSchedule, toSlot } from "../schedule-rows.ts";
import { arrayOf, type Connection, type PostgresRow, type PostgresValue } from "./connection.ts";

type Names =
  | "addSchedule"
  | "findSchedule"
  | "listSchedules"
  | "listOfTenant"
  | "changeSchedule"
  | "removeSchedule"
  | "listDue"
  | "advance"
  | "forgetSlots"
  | "claim"
  | "claimOf"
  | "decideSlot"
  | "settleSlot"
  | "releaseSlot"
  | "listSlots"
  | "findSlot"
  | "findFiredBefore";

export function createScheduleBook(connection: Connection): ScheduleBook {
  const sql = readSql<Names>(new URL("./sql/schedules.sql", import.meta.url));
  const ask = (name: Names, ...values: PostgresValue[]) => connection.ask(`schedules.${name}`, sql[name], values);
  /** Whether it touched a row. */
  const hit = async (name: Names, ...values: PostgresValue[]) => (await ask(name, ...values)).length > 0;

  async function advance(
    { id, version }: Schedule,
    { doneUntil, nextAt }: Pick<Schedule, "doneUntil" | "nextAt">,
    slots: readonly NewSlot[],
  ): Promise<boolean> {
    const columns = [slots.map(({ at }) => at), slots.map(({ kind }) => kind), slots.map(({ skipped }) => skipped)];
    const isDone = await hit("advance", doneUntil, nextAt ?? null, id, version, ...columns.map(arrayOf));
    if (isDone && slots.length > 0) await ask("forgetSlots", id, SLOTS_KEPT);
    return isDone;
  }

  async function claim({ now, claimMs, most, scheduleId }: ClaimRequest): Promise<SlotClaim[]> {
    const until = now + claimMs;
    const rows =
      scheduleId === undefined ? await ask("claim", now, until, most) : await ask("claimOf", now, until, scheduleId);
    return rows.flatMap((row) => {
      const schedule = toSchedule(JSON.parse(String(row.of_schedule)) as PostgresRow);
      return schedule === undefined ? [] : [{ slot: toSlot(row), token: Number(row.token), schedule }];
    });
  }

  function settle({ slot, token }: SlotClaim, end: SlotEnd, endedAt: number): Promise<boolean> {
    const from = end.state === "skipped" ? "waiting" : "firing";
    const because = end.state === "fired" ? null : end.because;
    const jobId = end.state === "fired" ? end.jobId : null;
    return hit("settleSlot", end.state, because, jobId, endedAt, ...keyOf(slot), token, from);
  }

  return {
    add: (schedule) => hit("addSchedule", ...newScheduleRow(schedule)),
    find: async (id) => toSchedule((await ask("findSchedule", id))[0]),
    async list(tenant, limit, afterId) {
      const rows =
        tenant === undefined
          ? await ask("listSchedules", afterId, limit)
          : await ask("listOfTenant", tenant, afterId, limit);
      return rows.flatMap((row) => toSchedule(row) ?? []);
    },
    change: (schedule) => {
      const { doneUntil, nextAt, id, version } = schedule;
      return hit("changeSchedule", ...scheduleWords(schedule), doneUntil, nextAt ?? null, id, version);
    },
    remove: (id) => hit("removeSchedule", id),
    listDue: async (now, limit) => (await ask("listDue", now, limit)).flatMap(toDue),
    advance,
    claim,
    decide: ({ slot, token }) => hit("decideSlot", ...keyOf(slot), token),
    settle,
    async release({ slot, token }, notBefore, because) {
      await ask("releaseSlot", notBefore, because, ...keyOf(slot), token);
    },
    listSlots: async (scheduleId, limit, beforeAt) => (await ask("listSlots", scheduleId, beforeAt, limit)).map(toSlot),
    findSlot: async (key) => (await ask("findSlot", ...keyOf(key))).map(toSlot)[0],
    findFiredBefore: async (key) => (await ask("findFiredBefore", ...keyOf(key))).map(toSlot)[0],
  };
}

function keyOf({ scheduleId, at, kind }: SlotKey): [string, number, string] {
  return [scheduleId, at, kind];
}
