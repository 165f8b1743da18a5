/** A page and its records as rows. */
import type { SqlValue } from "../../runtime/sqlite.ts";
import { fieldsJson, headersJson, withoutNul } from "../rows.ts";
import type { PageWrite, Run } from "../store.ts";

/** One page ready to be written: everything but its id and its job's alias is settled. */
export type PageRow = {
  jobId: string;
  taskId: string;
  token: number;
  /** The columns of `insertPage` from `depth` on, up to those of the run. */
  columns: readonly SqlValue[];
  run: Run | undefined;
  records: readonly string[];
  invalid: readonly { fields: string; reason: string }[];
};

export function toRow(write: PageWrite): PageRow {
  const { page, records, invalid } = write;
  const columns = [
    write.depth,
    page.url,
    page.status,
    headersJson(page.headers),
    page.contentType ?? null,
    page.bodyBytes,
    write.bodyRef ?? null,
    page.fetchedAt,
    page.tookMs,
    records.length,
    invalid.length,
    write.screenshotRef ?? null,
    write.pdfRef ?? null,
    write.unchanged === true ? 1 : 0,
  ];
  return {
    jobId: write.jobId,
    taskId: write.taskId,
    token: write.token,
    columns,
    run: write.run,
    records: records.map((fields) => fieldsJson(write, fields)),
    invalid: invalid.map(({ fields, reason }) => ({ fields: fieldsJson(write, fields), reason: withoutNul(reason) })),
  };
}
