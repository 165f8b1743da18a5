/** Conversion of a page and its records to rows. */
import type { SqlValue } from "../../runtime/sqlite.ts";
import { fieldsJson, headersJson, withoutNul } from "../rows.ts";
import type { AttemptRun, PageWrite } from "../store.ts";

/** One page ready to be written, except for its id and the alias of its job. */
export type PageRow = {
  jobId: string;
  taskId: string;
  token: number;
  /** The columns of `insertPage` from `depth` to `unchanged`. */
  columns: readonly SqlValue[];
  run: AttemptRun | undefined;
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
