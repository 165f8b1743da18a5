import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import type { JobOwners, OwnedJob } from "../job-owners.ts";
import type { RunCall } from "./key-book.ts";

type Names = "findNote" | "countOpen" | "addNote" | "listNotes" | "listOpen" | "setOpen" | "forget";

export function createJobOwners(db: Database, run: RunCall): JobOwners {
  const sql = prepareAll<Names>(db, new URL("./sql/job-owners.sql", import.meta.url));
  const toOwned = (row: Row): OwnedJob => ({
    jobId: String(row.job),
    n: Number(row.n),
    notedAt: Number(row.noted_at),
  });

  return {
    note: (owner, jobId, at, most) =>
      run("owners.note", () =>
        db.write(() => {
          if (sql.findNote.get(jobId) !== undefined) return true;
          if (most !== undefined && Number(sql.countOpen.get(owner)?.answer) >= most) return false;
          sql.addNote.run(owner, jobId, at);
          return true;
        }),
      ),
    list: (owner, limit, beforeN = Number.MAX_SAFE_INTEGER) =>
      run("owners.list", () => sql.listNotes.all(owner, beforeN, limit).map(toOwned)),
    listOpen: (owner, limit, afterN = 0) =>
      run("owners.listOpen", () => sql.listOpen.all(owner, afterN, limit).map(toOwned)),
    setOpen: (jobIds, isOpen) =>
      run("owners.setOpen", () =>
        db.write(() => {
          for (const jobId of jobIds) sql.setOpen.run(isOpen ? 1 : 0, jobId);
        }),
      ),
    forget: (jobIds) =>
      run("owners.forget", () =>
        db.write(() => {
          for (const jobId of jobIds) sql.forget.run(jobId);
        }),
      ),
  };
}
