/**
 * Writes batches of pages and attempts for any number of workers on any number of machines. A batch is one call of a
 * server function (migrations/002-write-batch.sql). The function locks the jobs of the batch, so ids are assigned in
 * commit order. Only a write with a higher token replaces the page of a task. A write with the same token changes
 * nothing, and a write with a lower token is stale.
 */
import { readSql } from "../../runtime/sqlite.ts";
import { type MemoryWrite, memoryPageKey } from "../page-memory.ts";
import { fieldsJson, headersJson } from "../rows.ts";
import type { AttemptWrite, PageWrite, WriteVerdict } from "../store.ts";
import { encodeArray, type PostgresConnection, type PostgresValue } from "./connection.ts";

type Column<T> = (row: T) => PostgresValue | undefined;

type BatchWriter = (
  batch: readonly PageWrite[],
  attempts: readonly AttemptWrite[],
  memories: readonly MemoryWrite[],
) => Promise<readonly WriteVerdict[]>;

export function createBatchWriter(connection: PostgresConnection): BatchWriter {
  const sql = readSql<"writeBatch" | "writeAndRemember">(new URL("./sql/write-batch.sql", import.meta.url));
  return async (batch, attempts, memories) => {
    if (batch.length + attempts.length + memories.length === 0) return [];
    const pages = highestByTask(batch);
    const written = [...pages.values()];
    const values = batchValues(written, attempts, memories);
    const unchanged = written.filter((write) => write.unchanged === true);
    // Most jobs are not recrawls, so they write no page memories.
    const isPlain = unchanged.length + memories.length === 0;
    const [row] = isPlain
      ? await connection.query("store.write", sql.writeBatch, values)
      : await connection.query("store.write", sql.writeAndRemember, [...values, ...recrawlValues(unchanged, memories)]);
    // The driver returns arrays as text: {3,-1}.
    const had = String(row?.had ?? "{}").slice(1, -1);
    return verdictsOn(batch, new Map([...pages.keys()].map((key, index) => [key, Number(had.split(",")[index])])));
  };
}

/** For each task, the first write with the highest token. The other writes would be replaced or rejected. */
function highestByTask(batch: readonly PageWrite[]): Map<string, PageWrite> {
  const highest = new Map<string, PageWrite>();
  for (const write of batch) {
    const key = keyOf(write);
    const known = highest.get(key);
    if (known === undefined || write.token > known.token) highest.set(key, write);
  }
  return highest;
}

/** The verdict of each write, as if they ran one by one. `tokens`: the token of each task's page before the batch. */
function verdictsOn(batch: readonly PageWrite[], tokens: Map<string, number>): WriteVerdict[] {
  return batch.map((write) => {
    const key = keyOf(write);
    const current = tokens.get(key) ?? -1;
    if (write.token < current) return "stale";
    tokens.set(key, write.token);
    return "written";
  });
}

function keyOf({ jobId, taskId }: PageWrite): string {
  return JSON.stringify([jobId, taskId]);
}

/** In the order of the parameters of `write_batch`. */
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

const ATTEMPT_COLUMNS: readonly Column<AttemptWrite>[] = [
  ({ jobId }) => jobId,
  ({ taskId }) => taskId,
  ({ token }) => token,
  ({ url }) => url,
  ({ run }) => run.worker,
  ({ run }) => run.attempt,
  ({ run }) => run.leasedAt,
  ({ run }) => run.endedAt,
  ({ outcome }) => outcome,
  ({ because }) => because,
  ({ status }) => status,
  ({ detail }) => detail,
  ({ run }) => run.step,
];

const UNCHANGED_COLUMNS: readonly Column<PageWrite>[] = [
  ({ jobId }) => jobId,
  ({ taskId }) => taskId,
  ({ token }) => token,
];

const MEMORY_COLUMNS: readonly Column<MemoryWrite>[] = [
  ({ set }) => set,
  ({ url }) => memoryPageKey(url),
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

/** Sorts the page memories, so that writers cannot deadlock: the jobs of a recrawl set lock the same rows. */
function recrawlValues(unchanged: readonly PageWrite[], memories: readonly MemoryWrite[]): string[] {
  const sorted = memories
    .map((memory) => ({ memory, key: `${memory.set}\n${memoryPageKey(memory.url)}` }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ memory }) => memory);
  return [...columnsOf(unchanged, UNCHANGED_COLUMNS), ...columnsOf(sorted, MEMORY_COLUMNS)].map(encodeArray);
}

function batchValues(
  pages: readonly PageWrite[],
  attempts: readonly AttemptWrite[],
  memories: readonly MemoryWrite[],
): string[] {
  const jobs = new Set([...pages, ...attempts, ...memories].map(({ jobId }) => jobId));
  const workers = new Set([...pages, ...attempts].flatMap(({ run }) => (run === undefined ? [] : [run.worker])));
  const lists: (readonly (PostgresValue | undefined)[])[] = [
    [...jobs],
    [...workers],
    ...columnsOf(pages, PAGE_COLUMNS),
    ...recordColumns(pages),
    ...invalidColumns(pages),
    ...columnsOf(attempts, ATTEMPT_COLUMNS),
  ];
  return lists.map(encodeArray);
}

function columnsOf<T>(rows: readonly T[], columns: readonly Column<T>[]) {
  return columns.map((column) => rows.map(column));
}

/** Three columns: number of the page, from 1; index of the record; the record. */
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
