/**
 * Schedules in PostgreSQL. Each call is one statement, and is retried if its answer was lost. If the first attempt took
 * effect, the retry reports a conflict, as if another process had made the change. The caller then reads the schedule
 * again, and a claim that no caller received expires.
 */
import type { OccurrenceKey } from "../../domain/schedule.ts";
import { readSql } from "../../runtime/sqlite.ts";
import { newScheduleRow, scheduleColumns, toDue, toOccurrence, toSchedule } from "../schedule-rows.ts";
import {
  type ClaimRequest,
  type NewOccurrence,
  OCCURRENCES_KEPT,
  type OccurrenceClaim,
  type OccurrenceEnd,
  type Schedule,
  type ScheduleStore,
} from "../schedule-store.ts";
import { encodeArray, type PostgresConnection, type PostgresRow, type PostgresValues } from "./connection.ts";

type Names =
  | "addSchedule"
  | "findSchedule"
  | "listSchedules"
  | "listOfTenant"
  | "changeSchedule"
  | "removeSchedule"
  | "listDue"
  | "advance"
  | "forgetOccurrences"
  | "claim"
  | "claimOf"
  | "decideOccurrence"
  | "settleOccurrence"
  | "releaseOccurrence"
  | "listOccurrences"
  | "findOccurrence"
  | "findFiredBefore";

export function createScheduleStore(connection: PostgresConnection): ScheduleStore {
  const sql = readSql<Names>(new URL("./sql/schedules.sql", import.meta.url));
  const query = (name: Names, values: PostgresValues) => connection.query(`schedules.${name}`, sql[name], values);
  /** Whether the statement changed a row. */
  const changed = async (name: Names, values: PostgresValues) => (await query(name, values)).length > 0;

  async function advance(
    { id, version }: Schedule,
    { doneUntil, nextAt = null }: { doneUntil: number; nextAt?: number | null | undefined },
    occurrences: readonly NewOccurrence[],
  ): Promise<boolean> {
    const added = {
      instants: encodeArray(occurrences.map(({ at }) => at)),
      kinds: encodeArray(occurrences.map(({ kind }) => kind)),
      skipped: encodeArray(occurrences.map(({ skipped }) => skipped)),
    };
    const isDone = await changed("advance", { doneUntil, nextAt, id, version, ...added });
    if (isDone && occurrences.length > 0) await query("forgetOccurrences", [id, OCCURRENCES_KEPT]);
    return isDone;
  }

  async function claim({ now, claimMs, max, scheduleId }: ClaimRequest): Promise<OccurrenceClaim[]> {
    const until = now + claimMs;
    const rows =
      scheduleId === undefined
        ? await query("claim", [now, until, max])
        : await query("claimOf", [now, until, scheduleId]);
    return rows.flatMap((row) => {
      const schedule = toSchedule(JSON.parse(String(row.of_schedule)) as PostgresRow);
      return schedule === undefined ? [] : [{ occurrence: toOccurrence(row), token: Number(row.token), schedule }];
    });
  }

  function settle({ occurrence, token }: OccurrenceClaim, end: OccurrenceEnd, endedAt: number): Promise<boolean> {
    const from = end.state === "skipped" ? "waiting" : "firing";
    const because = end.state === "fired" ? null : end.because;
    const jobId = end.state === "fired" ? end.jobId : null;
    const values = { ...keyOf(occurrence), token, from, state: end.state, because, jobId, endedAt };
    return changed("settleOccurrence", values);
  }

  return {
    add: (schedule) => changed("addSchedule", newScheduleRow(schedule)),
    find: async (id) => toSchedule((await query("findSchedule", [id]))[0]),
    async list(tenant, limit, afterId) {
      const rows =
        tenant === undefined
          ? await query("listSchedules", [afterId, limit])
          : await query("listOfTenant", [tenant, afterId, limit]);
      return rows.flatMap((row) => toSchedule(row) ?? []);
    },
    change: (schedule) => {
      const { id, version } = schedule;
      return changed("changeSchedule", { ...scheduleColumns(schedule), id, version });
    },
    remove: (id) => changed("removeSchedule", [id]),
    listDue: async (now, limit) => (await query("listDue", [now, limit])).flatMap(toDue),
    advance,
    claim,
    decide: ({ occurrence, token }) => changed("decideOccurrence", { ...keyOf(occurrence), token }),
    settle,
    async release({ occurrence, token }, notBefore, because) {
      await query("releaseOccurrence", { ...keyOf(occurrence), token, freeAt: notBefore, because });
    },
    listOccurrences: async (scheduleId, limit, beforeAt) =>
      (await query("listOccurrences", [scheduleId, beforeAt, limit])).map(toOccurrence),
    findOccurrence: async (key) => (await query("findOccurrence", keyOf(key))).map(toOccurrence)[0],
    findFiredBefore: async (key) => (await query("findFiredBefore", keyOf(key))).map(toOccurrence)[0],
  };
}

function keyOf({ scheduleId, at, kind }: OccurrenceKey) {
  return { scheduleId, at, kind };
}
