/**
 * Search in what a store has of a job, the same in every backend: rows are read in order and looked at here, so many in one
 * call at most. Whoever searches a job of millions asks again from where the last call came to.
 */
import { setImmediate as turn } from "node:timers/promises";
import type { InvalidRecord, Store, StoredPage, StoredRecord } from "./store.ts";

/** From where, and how many at most are wanted. */
export type Place = { afterId: number; limit: number };

export type Scanned<T> = {
  found: readonly T[];
  /** The last row that was looked at: to go on from. */
  lastId: number;
  looked: number;
  /** There is no more for now. */
  isOver: boolean;
};

/** Rows that one call looks at; reading and parsing them takes some 100 ms, in steps that others get a turn between. */
const LOOK_MOST = 5_000;
const STEP = 250;

/** Records with the text in one of their values, or in their URL, in any case. */
export function scanRecords(
  store: Pick<Store, "readRecords">,
  jobId: string,
  text: string,
  place: Place,
): Promise<Scanned<StoredRecord>> {
  const isWanted = holding(text);
  return scan<StoredRecord>((afterId, limit) => store.readRecords(jobId, afterId, limit), isWanted, place);
}

/** The same of invalid records, and in why they are. */
export function scanInvalid(
  store: Pick<Store, "readInvalid">,
  jobId: string,
  text: string,
  place: Place,
): Promise<Scanned<InvalidRecord>> {
  const isWanted = holding(text);
  return scan<InvalidRecord>((afterId, limit) => store.readInvalid(jobId, afterId, limit), isWanted, place);
}

/** Which pages: `status` is a whole one, or the first digit of many. */
export type PageFilter = { text?: string | undefined; status?: number | undefined };

export function scanPages(
  store: Pick<Store, "readPages">,
  jobId: string,
  { text = "", status }: PageFilter,
  place: Place,
): Promise<Scanned<StoredPage>> {
  const needle = text.toLowerCase();
  const hasStatus = (page: StoredPage) =>
    status === undefined || page.status === status || Math.floor(page.status / 100) === status;
  const isWanted = (page: StoredPage) => hasStatus(page) && page.url.toLowerCase().includes(needle);
  return scan((afterId, limit) => store.readPages(jobId, afterId, limit), isWanted, place);
}

async function scan<T extends { id: number }>(
  read: (afterId: number, limit: number) => Promise<readonly T[]>,
  isWanted: (row: T) => boolean,
  { afterId, limit }: Place,
): Promise<Scanned<T>> {
  const found: T[] = [];
  let lastId = afterId;
  let looked = 0;
  while (looked < LOOK_MOST) {
    const rows = await read(lastId, STEP);
    for (const row of rows) {
      lastId = row.id;
      looked += 1;
      if (isWanted(row) && found.push(row) >= limit) return { found, lastId, looked, isOver: false };
    }
    if (rows.length < STEP) return { found, lastId, looked, isOver: true };
    await turn();
  }
  return { found, lastId, looked, isOver: false };
}

type Row = Pick<StoredRecord, "url" | "fields"> & { reason?: string };

function holding(text: string): (row: Row) => boolean {
  const needle = text.toLowerCase();
  return ({ url, fields, reason = "" }) =>
    [url, reason].some((words) => words.toLowerCase().includes(needle)) || holds(fields, needle);
}

/** By a list of what is still to be looked at: fields may nest deeper than a call may. */
function holds(fields: unknown, needle: string): boolean {
  const left: unknown[] = [fields];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === "object" && value !== null) {
      for (const inner of Object.values(value)) if (inner !== undefined) left.push(inner);
    } else if (String(value).toLowerCase().includes(needle)) return true;
  }
  return false;
}
