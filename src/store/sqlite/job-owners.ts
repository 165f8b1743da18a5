/** Jobs by owner in SQLite. Every API instance calls it; each call is one transaction. */
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import type { RunOnFile } from "../../runtime/sqlite-errors.ts";
import type { JobOwners, OwnedJob } from "../job-owners.ts";

type Names = "findEntry" | "countOpen" | "addEntry" | "listEntries" | "listOpen" | "setOpen" | "remove";

export function createJobOwners(db: Database, run: RunOnFile): JobOwners {
  const sql = prepareAll<Names>(db, new URL("./sql/job-owners.sql", import.meta.url));
  const toOwned = (row: Row): OwnedJob => ({
    jobId: String(row.job),
    n: Number(row.n),
    addedAt: Number(row.noted_at),
  });

  return {
    add: (owner, jobId, at, max) =>
      run("owners.add", () =>
        db.write(() => {
          if (sql.findEntry.get(jobId) !== undefined) return true;
          if (max !== undefined && Number(sql.countOpen.get(owner)?.answer) >= max) return false;
          sql.addEntry.run(owner, jobId, at);
          return true;
        }),
      ),
    list: (owner, limit, beforeN = Number.MAX_SAFE_INTEGER) =>
      run("owners.list", () => sql.listEntries.all(owner, beforeN, limit).map(toOwned)),
    listOpen: (owner, limit, afterN = 0) =>
      run("owners.listOpen", () => sql.listOpen.all(owner, afterN, limit).map(toOwned)),
    setOpen: (jobIds, isOpen) =>
      run("owners.setOpen", () =>
        db.write(() => {
          for (const jobId of jobIds) sql.setOpen.run(isOpen ? 1 : 0, jobId);
        }),
      ),
    remove: (jobIds) =>
      run("owners.remove", () =>
        db.write(() => {
          for (const jobId of jobIds) sql.remove.run(jobId);
        }),
      ),
  };
}
