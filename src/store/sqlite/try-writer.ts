/** Writes tries that ended without a page, inside the transaction of the batch they came with. */
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import { withoutNul } from "../rows.ts";
import type { TryWrite } from "../store.ts";
import type { Aliases } from "./aliases.ts";

export type TryWriter = {
  /** Before the transaction: names become numbers. */
  toRow(write: TryWrite): readonly SqlValue[];
  insert(row: readonly SqlValue[]): void;
};

export function createTryWriter(db: Database, aliases: Aliases): TryWriter {
  const sql = prepareAll<"insertTry">(db, new URL("./sql/write-tries.sql", import.meta.url));
  return {
    toRow: ({ jobId, taskId, token, url, run, fate, because, status, detail }) => [
      aliases.job(jobId),
      taskId,
      token,
      url,
      aliases.worker(run.worker),
      run.attempt,
      run.leasedAt,
      run.endedAt,
      fate,
      because,
      status ?? null,
      detail === undefined ? null : withoutNul(detail),
      run.step,
    ],
    insert: (row) => void sql.insertTry.run(...row),
  };
}
