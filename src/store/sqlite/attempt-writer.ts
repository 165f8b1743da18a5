/** Writes attempts that ended without a page, inside the transaction of their batch. */
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import { withoutNul } from "../rows.ts";
import type { AttemptWrite } from "../store.ts";
import type { Aliases } from "./aliases.ts";

type AttemptWriter = {
  /** Call before the transaction: it may create aliases, each in a transaction of its own. */
  toRow(write: AttemptWrite): readonly SqlValue[];
  insert(row: readonly SqlValue[]): void;
};

export function createAttemptWriter(db: Database, aliases: Aliases): AttemptWriter {
  const sql = prepareAll<"insertAttempt">(db, new URL("./sql/write-attempts.sql", import.meta.url));
  return {
    toRow: ({ jobId, taskId, token, url, run, outcome, because, status, detail }) => [
      aliases.job(jobId),
      taskId,
      token,
      url,
      aliases.worker(run.worker),
      run.attempt,
      run.leasedAt,
      run.endedAt,
      outcome,
      because,
      status ?? null,
      detail === undefined ? null : withoutNul(detail),
      run.step,
    ],
    insert: (row) => void sql.insertAttempt.run(...row),
  };
}
