/** The job archive in PostgreSQL. Each call is one statement, and can be repeated without harm. */
import { readSql } from "../../runtime/sqlite.ts";
import { archivedRow, type JobArchive, toArchived } from "../job-archive.ts";
import { encodeArray, type PostgresConnection, type PostgresValue } from "./connection.ts";

type Names =
  | "keep"
  | "find"
  | "findAll"
  | "listArchived"
  | "filterDeleted"
  | "mark"
  | "listUncleaned"
  | "setClean"
  | "erase"
  | "readPassed"
  | "listOrphanBodies"
  | "dropOrphanBodies";

export function createJobArchive(connection: PostgresConnection): JobArchive {
  const sql = readSql<Names>(new URL("./sql/archive.sql", import.meta.url));
  const query = (name: Names, ...values: PostgresValue[]) => connection.query(`archive.${name}`, sql[name], values);

  return {
    keep: async (job) => void (await query("keep", ...archivedRow(job))),
    async find(jobId) {
      const [row] = await query("find", jobId);
      if (row?.is_deleted === true) return "deleted";
      return row === undefined || row.id === null ? undefined : toArchived(row);
    },
    findAll: async (jobIds) =>
      jobIds.length === 0 ? [] : (await query("findAll", encodeArray(jobIds))).map(toArchived),
    list: async (limit, before) =>
      (await query("listArchived", before?.createdAt ?? Number.MAX_VALUE, limit)).map(toArchived),
    filterDeleted: async (jobIds) =>
      jobIds.length === 0 ? [] : (await query("filterDeleted", encodeArray(jobIds))).map(({ id }) => String(id)),
    markDeleted: async (jobId, at) => void (await query("mark", jobId, at)),
    listUncleaned: async (limit, from = 0) =>
      (await query("listUncleaned", from, limit)).map((row) => ({
        jobId: String(row.id),
        deletedAt: Number(row.deleted_at),
      })),
    setClean: async (jobId) => void (await query("setClean", jobId)),
    erase: async (jobId, max, at) => Number((await query("erase", jobId, max, at))[0]?.most) >= max,
    readPassed: async (jobId, afterTaskId, limit) =>
      (await query("readPassed", jobId, afterTaskId, limit)).map(({ task }) => String(task)),
    listOrphanBodies: async (since, limit) =>
      (await query("listOrphanBodies", since, limit)).map((row) => ({
        ref: String(row.ref),
        isReferenced: row.is_referenced === true,
      })),
    dropOrphanBodies: async (refs, since) => void (await query("dropOrphanBodies", encodeArray(refs), since)),
  };
}
