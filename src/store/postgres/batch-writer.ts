/**
 * Writes batches of pages and tries for any number of workers on any number of machines. A batch is one statement, a
 * function of the server's (migrations/002-write-batch.sql), which locks the batch's jobs, so that ids are given out in
 * the order of commits. A task's page belongs to the highest token that wrote it; the same token again changes nothing.
 */
import { readSql } from "../../runtime/sqlite.ts";
import { type MemoryWrite, memoryPage } from "../page-memory.ts";
import { fieldsJson, headersJson } from "../rows.ts";
import type { PageWrite, TryWrite, WriteVerdict } from "../store.ts";
import { arrayOf, type Connection, type PostgresValue } from "./connection.ts";

type Column<T> = (of: T) => PostgresValue | undefined;

export type BatchWriter = (
  batch: readonly PageWrite[],
  tries: readonly TryWrite[],
  memories: readonly MemoryWrite[],
) => Promise<readonly WriteVerdict[]>;

export function createBatchWriter(connection: Connection): BatchWriter {
  const sql = readSql<"writeBatch" | "writeAndRemember">(new URL("./sql/write-batch.sql", import.meta.url));
  return async (batch, tries, memories) => {
    if (batch.length + tries.length + memories.length === 0) return [];
    const pages = highestOfEach(batch);
    const written = [...pages.values()];
    const values = valuesOf(written, tries, memories);
    const same = written.filter(({ unchanged }) => unchanged === true);
    // Most jobs remember nothing.
    const isPlain = same.length + memories.length === 0;
    const [row] = isPlain
      ? await connection.ask("store.write", sql.writeBatch, values)
      : await connection.ask("store.write", sql.writeAndRemember, [...values, ...moreValues(same, memories)]);
    // The driver leaves arrays as they come: {3,-1}.
    const had = String(row?.had ?? "{}").slice(1, -1);
    return judge(batch, new Map([...pages.keys()].map((key, index) => [key, Number(had.split(",")[index])])));
  };
}

/** Of each task the first write with its highest token: whatever else the batch has of it would be replaced or refused. */
function highestOfEach(batch: readonly PageWrite[]): Map<string, PageWrite> {
  const highest = new Map<string, PageWrite>();
  for (const write of batch) {
    const key = keyOf(write);
    const known = highest.get(key);
    if (known === undefined || write.token > known.token) highest.set(key, write);
  }
  return highest;
}

/** What each write in turn would have met. `tokens`: what the tasks had before the batch. */
function judge(batch: readonly PageWrite[], tokens: Map<string, number>): WriteVerdict[] {
  return batch.map((write) => {
    const key = keyOf(write);
    const held = tokens.get(key) ?? -1;
    if (write.token < held) return "stale";
    tokens.set(key, write.token);
    return "written";
  });
}

function keyOf({ jobId, taskId }: PageWrite): string {
  return JSON.stringify([jobId, taskId]);
}

/** In the order of the function's parameters. */
const PAGE_COLUMNS: readonly Column<PageWrite>[] = [
  ({ jobId }) => jobId,
  ({ taskId }) => taskId,
  ({ token }) => token,
  ({ depth }) => depth,
  ({ page }) => page.url,
  ({ page }) => page.status,
  ({ page }) => headersJson(page.headers),
  ({ page }) => page.contentType,
  ({ page }) => page.bodyBytes,
  ({ bodyRef }) => bodyRef,
  ({ screenshotRef }) => screenshotRef,
  ({ pdfRef }) => pdfRef,
  ({ page }) => page.fetchedAt,
  ({ page }) => page.tookMs,
  ({ records }) => records.length,
  ({ invalid }) => invalid.length,
  ({ run }) => run?.worker,
  ({ run }) => run?.attempt,
  ({ run }) => run?.leasedAt,
  ({ run }) => run?.endedAt,
  ({ run }) => run?.step,
];

const TRY_COLUMNS: readonly Column<TryWrite>[] = [
  ({ jobId }) => jobId,
  ({ taskId }) => taskId,
  ({ token }) => token,
  ({ url }) => url,
  ({ run }) => run.worker,
  ({ run }) => run.attempt,
  ({ run }) => run.leasedAt,
  ({ run }) => run.endedAt,
  ({ fate }) => fate,
  ({ because }) => because,
  ({ status }) => status,
  ({ detail }) => detail,
  ({ run }) => run.step,
];

const SAME_COLUMNS: readonly Column<PageWrite>[] = [({ jobId }) => jobId, ({ taskId }) => taskId, ({ token }) => token];

const MEMORY_COLUMNS: readonly Column<MemoryWrite>[] = [
  ({ set }) => set,
  ({ url }) => memoryPage(url),
  ({ jobId }) => jobId,
  ({ taskId }) => taskId,
  ({ token }) => token,
  ({ reads }) => reads,
  ({ etag }) => etag,
  ({ lastModified }) => lastModified,
  ({ fingerprint }) => fingerprint,
  ({ content }) => content,
  ({ fetchedAt }) => fetchedAt,
];

/** In one order, whoever writes them: rows of one page are locked by all jobs of its set. */
function moreValues(same: readonly PageWrite[], memories: readonly MemoryWrite[]): string[] {
  const sorted = memories
    .map((memory) => ({ memory, key: `${memory.set}\n${memoryPage(memory.url)}` }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ memory }) => memory);
  return [...columnsOf(same, SAME_COLUMNS), ...columnsOf(sorted, MEMORY_COLUMNS)].map(arrayOf);
}

function valuesOf(pages: readonly PageWrite[], tries: readonly TryWrite[], memories: readonly MemoryWrite[]): string[] {
  const jobs = new Set([...pages, ...tries, ...memories].map(({ jobId }) => jobId));
  const workers = new Set([...pages, ...tries].flatMap(({ run }) => (run === undefined ? [] : [run.worker])));
  const lists: (readonly (PostgresValue | undefined)[])[] = [
    [...jobs],
    [...workers],
    ...columnsOf(pages, PAGE_COLUMNS),
    ...recordColumns(pages),
    ...invalidColumns(pages),
    ...columnsOf(tries, TRY_COLUMNS),
  ];
  return lists.map(arrayOf);
}

function columnsOf<T>(rows: readonly T[], columns: readonly Column<T>[]) {
  return columns.map((column) => rows.map(column));
}

/** Which page, counted from 1; which of its records; the record. */
function recordColumns(pages: readonly PageWrite[]): PostgresValue[][] {
  const rows = pages.flatMap((write, page) =>
    write.records.map((fields, at) => [page + 1, at, fieldsJson(write, fields)] as const),
  );
  return [0, 1, 2].map((column) => rows.map((row) => row[column] as PostgresValue));
}

function invalidColumns(pages: readonly PageWrite[]): PostgresValue[][] {
  const rows = pages.flatMap((write, page) =>
    write.invalid.map(({ fields, reason }, at) => [page + 1, at, fieldsJson(write, fields), reason] as const),
  );
  return [0, 1, 2, 3].map((column) => rows.map((row) => row[column] as PostgresValue));
}
