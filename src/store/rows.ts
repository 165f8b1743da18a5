/** Conversion between rows and pages, records and attempts, shared by all backends. */
import type { Fields } from "../domain/page.ts";
import type { TaskKind } from "../domain/task.ts";
import { TrawlError } from "../errors.ts";
import type {
  AttemptGroup,
  AttemptOutcome,
  AttemptRun,
  AttemptWrite,
  InvalidRecord,
  PageWrite,
  StoredPage,
  StoredRecord,
  TracedPage,
} from "./store.ts";

/** A row from a database driver. Large integers may arrive as strings. */
type StoredRow = Readonly<Record<string, unknown>>;

/** Maximum length of a page's headers as JSON. Headers past this limit are dropped, from the end. */
const MAX_HEADERS = 16 * 1024;

export function headersJson(headers: Readonly<Record<string, string>>): string {
  const all = JSON.stringify(headers);
  if (all.length <= MAX_HEADERS) return all;
  const kept: Record<string, string> = {};
  let left = MAX_HEADERS - "{}".length;
  for (const [name, value] of Object.entries(headers)) {
    left -= JSON.stringify(name).length + JSON.stringify(value).length + ":,".length;
    if (left < 0) break;
    kept[name] = value;
  }
  return JSON.stringify(kept);
}

/**
 * Serializes a record. Callers that accept fields from user code must check them first: an error here fails the whole
 * batch, not one task.
 */
export function fieldsJson({ jobId, taskId }: PageWrite, fields: Fields): string {
  try {
    return JSON.stringify(fields);
  } catch (cause) {
    throw new TrawlError("INTERNAL", {
      op: "store.write",
      message: `job ${jobId}, task ${taskId}: a record cannot be serialized as JSON (${String(cause)}); emit plain values only`,
      detail: { jobId, taskId },
      cause,
    });
  }
}

/**
 * Replaces NUL characters. SQLite drivers cut a string at NUL, and PostgreSQL rejects it. JSON text contains no NUL.
 */
export function withoutNul(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

export function toStoredPage(jobId: string, row: StoredRow): StoredPage {
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
    unchanged: Number(row.unchanged) === 1,
  };
}

export function toStoredRecord(jobId: string, row: StoredRow): StoredRecord {
  const fieldsText = String(row.fields);
  let fields: Fields | undefined;
  return {
    id: Number(row.id),
    jobId,
    taskId: String(row.task),
    url: String(row.url),
    status: Number(row.status),
    fetchedAt: Number(row.fetched_at),
    depth: Number(row.depth),
    fieldsText,
    get fields() {
      fields ??= JSON.parse(fieldsText) as Fields;
      return fields;
    },
  };
}

export function toInvalidRecord(row: StoredRow): InvalidRecord {
  return {
    id: Number(row.id),
    taskId: String(row.task),
    url: String(row.url),
    fields: JSON.parse(String(row.fields)),
    reason: String(row.reason),
  };
}

export function toTracedPage(row: StoredRow): TracedPage {
  return {
    ...toStoredPage(String(row.job_id), row),
    run: optionalText(row.worker_name) === undefined ? undefined : toRun(row),
  };
}

function toRun(row: StoredRow): AttemptRun {
  return {
    worker: String(row.worker_name),
    step: (optionalText(row.step) ?? "fetch") as TaskKind, // pages of older versions have no step
    attempt: Number(row.attempt),
    leasedAt: Number(row.leased_at),
    endedAt: Number(row.ended_at),
  };
}

export function toAttempt(row: StoredRow): AttemptWrite {
  return {
    jobId: String(row.job_id),
    taskId: String(row.task),
    token: Number(row.token),
    url: String(row.url),
    run: toRun(row),
    outcome: String(row.fate) as AttemptOutcome,
    because: String(row.because),
    status: optionalNumber(row.status),
    detail: optionalText(row.detail),
  };
}

export function toAttemptGroup(row: StoredRow): AttemptGroup {
  return {
    outcome: String(row.fate) as AttemptOutcome,
    because: String(row.because),
    status: optionalNumber(row.status),
    count: Number(row.tries),
    sample: String(row.sample),
  };
}

function optionalNumber(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

function optionalText(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
