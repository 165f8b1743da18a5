/**
 * Search in the records and pages of a job, the same for every backend. Rows are read in order and filtered here, a
 * limited number per call. The caller continues from `lastId`.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { InvalidRecord, Store, StoredPage, StoredRecord } from "./store.ts";

/** Where the search starts, and the maximum number of results. */
type ScanRange = { afterId: number; limit: number };

export type ScanResult<T> = {
  found: readonly T[];
  /** Id of the last row that was read. Pass it as `afterId` to the next call. */
  lastId: number;
  scanned: number;
  /** Whether the last row of the job was read. */
  isEnd: boolean;
};

/** Maximum number of rows read per call. This takes about 100 ms; after each batch, it yields to the event loop. */
const MAX_ROWS = 5_000;
const BATCH_ROWS = 250;

/** Records whose URL or any value contains the text, ignoring case. */
export function scanRecords(
  store: Pick<Store, "readRecords">,
  jobId: string,
  text: string,
  range: ScanRange,
): Promise<ScanResult<StoredRecord>> {
  return scan<StoredRecord>((afterId, limit) => store.readRecords(jobId, afterId, limit), containing(text), range);
}

/** Invalid records whose URL, reason or any value contains the text, ignoring case. */
export function scanInvalidRecords(
  store: Pick<Store, "readInvalid">,
  jobId: string,
  text: string,
  range: ScanRange,
): Promise<ScanResult<InvalidRecord>> {
  return scan<InvalidRecord>((afterId, limit) => store.readInvalid(jobId, afterId, limit), containing(text), range);
}

/** `text`: a part of the URL. `status`: a full status code, or its first digit. */
export type PageFilter = { text?: string | undefined; status?: number | undefined };

export function scanPages(
  store: Pick<Store, "readPages">,
  jobId: string,
  { text = "", status }: PageFilter,
  range: ScanRange,
): Promise<ScanResult<StoredPage>> {
  const needle = text.toLowerCase();
  const hasStatus = (page: StoredPage) =>
    status === undefined || page.status === status || Math.floor(page.status / 100) === status;
  const isMatch = (page: StoredPage) => hasStatus(page) && page.url.toLowerCase().includes(needle);
  return scan((afterId, limit) => store.readPages(jobId, afterId, limit), isMatch, range);
}

async function scan<T extends { id: number }>(
  read: (afterId: number, limit: number) => Promise<readonly T[]>,
  isMatch: (row: T) => boolean,
  { afterId, limit }: ScanRange,
): Promise<ScanResult<T>> {
  const found: T[] = [];
  let lastId = afterId;
  let scanned = 0;
  while (scanned < MAX_ROWS) {
    const rows = await read(lastId, BATCH_ROWS);
    for (const row of rows) {
      lastId = row.id;
      scanned += 1;
      if (isMatch(row) && found.push(row) >= limit) return { found, lastId, scanned, isEnd: false };
    }
    if (rows.length < BATCH_ROWS) return { found, lastId, scanned, isEnd: true };
    await yieldToEventLoop();
  }
  return { found, lastId, scanned, isEnd: false };
}

type SearchedRow = Pick<StoredRecord, "url" | "fields"> & { reason?: string };

function containing(text: string): (row: SearchedRow) => boolean {
  const needle = text.toLowerCase();
  return ({ url, fields, reason = "" }) =>
    [url, reason].some((value) => value.toLowerCase().includes(needle)) || hasValue(fields, needle);
}

/** Whether any value contains the text. Iterative, because fields may nest deeper than the call stack allows. */
function hasValue(fields: unknown, needle: string): boolean {
  const left: unknown[] = [fields];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === "object" && value !== null) {
      for (const inner of Object.values(value)) if (inner !== undefined) left.push(inner);
    } else if (String(value).toLowerCase().includes(needle)) return true;
  }
  return false;
}
