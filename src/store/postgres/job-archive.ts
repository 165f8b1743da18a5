/** The archive of jobs on PostgreSQL. Each call is one statement, and does no harm where it is made twice. */
import { readSql } from "../../runtime/sqlite.ts";
import { archivedRow, type JobArchive, toArchived } from "../job-archive.ts";
import { arrayOf, type Connection, type PostgresValue } from "./connection.ts";

type Names =
  | "keep"
  | "find"
  | "listKept"
  | "deletedAmong"
  | "mark"
  | "listUnclean"
  | "setClean"
  | "erase"
  | "readPassed"
  | "listLoose"
  | "dropLoose";

export function createJobArchive(connection: Connection): JobArchive {
  const sql = readSql<Names>(new URL("./sql/archive.sql", import.meta.url));
  const ask = (name: Names, ...values: PostgresValue[]) => connection.ask(`archive.${name}`, sql[name], values);

  return {
    keep: async (job) => void (await ask("keep", ...archivedRow(job))),
    async find(jobId) {
      const [row] = await ask("find", jobId);
      if (row?.is_deleted === true) return "deleted";
      return row === undefined || row.id === null ? undefined : toArchived(row);
    },
    list: async (limit, before) =>
      (await ask("listKept", before?.createdAt ?? Number.MAX_VALUE, limit)).map(toArchived),
    deletedAmong: async (jobIds) =>
      jobIds.length === 0 ? [] : (await ask("deletedAmong", arrayOf(jobIds))).map(({ id }) => String(id)),
    markDeleted: async (jobId, at) => void (await ask("mark", jobId, at)),
    listUnclean: async (limit, from = 0) =>
      (await ask("listUnclean", from, limit)).map((row) => ({
        jobId: String(row.id),
        deletedAt: Number(row.deleted_at),
      })),
    setClean: async (jobId) => void (await ask("setClean", jobId)),
    erase: async (jobId, max, at) => Number((await ask("erase", jobId, max, at))[0]?.most) >= max,
    readPassed: async (jobId, afterTaskId, limit) =>
      (await ask("readPassed", jobId, afterTaskId, limit)).map(({ task }) => String(task)),
    listLoose: async (since, limit) =>
      (await ask("listLoose", since, limit)).map((row) => ({
        ref: String(row.ref),
        isReferred: row.is_referred === true,
      })),
    dropLoose: async (refs, since) => void (await ask("dropLoose", arrayOf(refs), since)),
  };
}
