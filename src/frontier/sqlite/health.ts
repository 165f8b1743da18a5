/** Checks the broker file; `trawl doctor` shows the results. */
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import { type SqliteFile, toFileError } from "../../runtime/sqlite-errors.ts";
import type { Finding } from "../frontier-admin.ts";

type Names = "schemaVersion" | "journalMode";

export function createHealthCheck({ db, file }: { db: Database; file: SqliteFile }): () => Finding[] {
  const sql = prepareAll<Names>(db, new URL("./sql/health.sql", import.meta.url));

  function checkWritable(): Finding {
    const check = "broker file";
    try {
      db.write(() => {});
      return { check, verdict: "ok", message: `${file.path} can be read and written` };
    } catch (error) {
      const cause = toFileError(file, "frontier.examine", error);
      const message = cause instanceof Error ? cause.message : String(cause);
      const fix = "give this user write permission on the file and its folder, and free some disk space";
      return { check, verdict: "problem", message, fix };
    }
  }

  function checkVersion(): Finding {
    // When the file was opened, a newer schema was refused and an older one was migrated.
    const version = sql.schemaVersion.get()?.answer;
    return { check: "broker version", verdict: "ok", message: `schema ${version}, which this Trawl supports` };
  }

  function checkJournal(): Finding {
    const mode = String(sql.journalMode.get()?.answer);
    const check = "broker journal";
    if (mode === "wal")
      return { check, verdict: "ok", message: "readers and the writer do not block each other (WAL)" };
    const fix = "move the file to a local disk: on a network disk, processes cannot share a WAL";
    return {
      check,
      verdict: "problem",
      message: `journal mode is ${mode}, not wal: processes would block each other`,
      fix,
    };
  }

  return () => [checkWritable(), checkVersion(), checkJournal()];
}
