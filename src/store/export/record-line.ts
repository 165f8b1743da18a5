import type { Fields } from "../../domain/page.ts";
import type { StoredRecord } from "../store.ts";

/** Columns that Trawl adds to every line, after the user's fields. */
export const LINE_COLUMNS = ["_url", "_status", "_fetchedAt", "_job", "_depth"] as const;

/** A record as it is written. A user field with a name from `LINE_COLUMNS` is replaced. */
export function recordLine(record: StoredRecord): Fields {
  return { ...record.fields, ...addedColumns(record) };
}

/**
 * `recordLine` as JSON text. It uses the stored text of the fields, because parsing the fields and serializing them
 * again took 5 % of the CPU time of a crawl.
 */
export function recordJson(record: StoredRecord): string {
  const { fieldsText } = record;
  // A user field may have the name of a column, so fields with such a name are parsed.
  if (fieldsText === undefined || fieldsText.includes('"_')) return JSON.stringify(recordLine(record));
  const columns = JSON.stringify(addedColumns(record));
  return fieldsText === "{}" ? columns : `${fieldsText.slice(0, -1)},${columns.slice(1)}`;
}

function addedColumns({ url, status, fetchedAt, jobId, depth }: StoredRecord): Fields {
  return { _url: url, _status: status, _fetchedAt: new Date(fetchedAt).toISOString(), _job: jobId, _depth: depth };
}
