import { readSql } from "../../runtime/sqlite.ts";
import type { JobOwners, OwnedJob } from "../job-owners.ts";
import { arrayOf, type Connection, type PostgresRow, type PostgresValue } from "./connection.ts";

type Names = "noteWithin" | "addNote" | "listNotes" | "listOpen" | "setOpen" | "forget";

export function createJobOwners(connection: Connection): JobOwners {
  const sql = readSql<Names>(new URL("./sql/job-owners.sql", import.meta.url));
  const ask = (op: keyof JobOwners, text: string, ...values: PostgresValue[]) =>
    connection.ask(`owners.${op}`, text, values);
  const toOwned = (row: PostgresRow): OwnedJob => ({
    jobId: String(row.job),
    n: Number(row.n),
    notedAt: Number(row.noted_at),
  });

  return {
    async note(owner, jobId, at, most) {
      if (most === undefined) {
        await ask("note", sql.addNote, owner, jobId, at);
        return true;
      }
      const [row] = await ask("note", sql.noteWithin, owner, jobId, at, most);
      return row?.answer === true;
    },
    list: async (owner, limit, beforeN = Number.MAX_SAFE_INTEGER) =>
      (await ask("list", sql.listNotes, owner, beforeN, limit)).map(toOwned),
    listOpen: async (owner, limit, afterN = 0) =>
      (await ask("listOpen", sql.listOpen, owner, afterN, limit)).map(toOwned),
    setOpen: async (jobIds, isOpen) => void (await ask("setOpen", sql.setOpen, String(isOpen), arrayOf(jobIds))),
    forget: async (jobIds) => void (await ask("forget", sql.forget, arrayOf(jobIds))),
  };
}
