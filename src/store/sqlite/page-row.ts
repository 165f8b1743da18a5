/** Pages and records as rows, and back. */
import type { Fields } from "../../domain/page.ts";
import { TrawlError } from "../../errors.ts";
import type { Row, SqlValue } from "../../runtime/sqlite.ts";
import type { InvalidRecord, PageWrite, Run, StoredPage, StoredRecord } from "../store.ts";

/** Longest JSON of a page's headers that is kept; past it, headers are left out from the end. */
export const HEADERS_MOST = 16 * 1024;

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

export function toStoredPage(jobId: string, row: Row): StoredPage {
  return {
    id: Number(row.id),
    jobId,
    taskId: String(row.task),
    token: Number(row.token),
    depth: Number(row.depth),
    url: String(row.url),
    status: Number(row.status),
    headers: JSON.parse(String(row.headers)),
    contentType: optionalText(row.content_type),
    bodyBytes: Number(row.body_bytes),
    bodyRef: optionalText(row.body_ref),
    screenshotRef: optionalText(row.screenshot_ref),
    pdfRef: optionalText(row.pdf_ref),
    fetchedAt: Number(row.fetched_at),
    tookMs: Number(row.took_ms),
    records: Number(row.records),
    invalid: Number(row.invalid),
  };
}

export function toStoredRecord(jobId: string, row: Row): StoredRecord {
  return {
    id: Number(row.id),
    jobId,
    taskId: String(row.task),
    url: String(row.url),
    status: Number(row.status),
    fetchedAt: Number(row.fetched_at),
    depth: Number(row.depth),
    fields: JSON.parse(String(row.fields)),
  };
}

export function toInvalidRecord(row: Row): InvalidRecord {
  return {
    id: Number(row.id),
    taskId: String(row.task),
    url: String(row.url),
    fields: JSON.parse(String(row.fields)),
    reason: String(row.reason),
  };
}

function headersJson(headers: Readonly<Record<string, string>>): string {
  const all = JSON.stringify(headers);
  if (all.length <= HEADERS_MOST) return all;
  const kept: Record<string, string> = {};
  let room = HEADERS_MOST - "{}".length;
  for (const [name, value] of Object.entries(headers)) {
    room -= JSON.stringify(name).length + JSON.stringify(value).length + ":,".length;
    if (room < 0) break;
    kept[name] = value;
  }
  return JSON.stringify(kept);
}

/** Whoever takes fields from a user's code checks that they are JSON: here it is too late to blame one task. */
function fieldsJson({ jobId, taskId }: PageWrite, fields: Fields): string {
  try {
    return JSON.stringify(fields);
  } catch (cause) {
    throw new TrawlError("INTERNAL", {
      op: "store.write",
      message: `job ${jobId}, task ${taskId}: a record cannot be written as JSON (${String(cause)}); emit plain values only`,
      detail: { jobId, taskId },
      cause,
    });
  }
}

/** SQLite's drivers end a text at its first NUL. JSON escapes them; this column is not JSON. */
export function withoutNul(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

export function optionalText(value: SqlValue | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
