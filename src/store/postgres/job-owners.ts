/** Jobs by owner in PostgreSQL. Each call is one statement, and can be repeated without harm. */
import { readSql } from "../../runtime/sqlite.ts";
import type { JobOwners, OwnedJob } from "../job-owners.ts";
import { encodeArray, type PostgresConnection, type PostgresRow, type PostgresValue } from "./connection.ts";

type Names = "addWithin" | "addEntry" | "listEntries" | "listOpen" | "setOpen" | "remove";

export function createJobOwners(connection: PostgresConnection): JobOwners {
  const sql = readSql<Names>(new URL("./sql/job-owners.sql", import.meta.url));
  const query = (op: keyof JobOwners, text: string, ...values: PostgresValue[]) =>
    connection.query(`owners.${op}`, text, values);
  const toOwned = (row: PostgresRow): OwnedJob => ({
    jobId: String(row.job),
    n: Number(row.n),
    addedAt: Number(row.noted_at),
  });

  return {
    async add(owner, jobId, at, max) {
      if (max === undefined) {
        await query("add", sql.addEntry, owner, jobId, at);
        return true;
      }
      const [row] = await query("add", sql.addWithin, owner, jobId, at, max);
      return row?.answer === true;
    },
    list: async (owner, limit, beforeN = Number.MAX_SAFE_INTEGER) =>
      (await query("list", sql.listEntries, owner, beforeN, limit)).map(toOwned),
    listOpen: async (owner, limit, afterN = 0) =>
      (await query("listOpen", sql.listOpen, owner, afterN, limit)).map(toOwned),
    setOpen: async (jobIds, isOpen) => void (await query("setOpen", sql.setOpen, String(isOpen), encodeArray(jobIds))),
    remove: async (jobIds) => void (await query("remove", sql.remove, encodeArray(jobIds))),
  };
}
