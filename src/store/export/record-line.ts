import type { Fields } from "../../domain/page.ts";
import type { StoredRecord } from "../store.ts";

/** Columns that Trawl adds to every line, after the user's fields. */
export const LINE_COLUMNS = ["_url", "_status", "_fetchedAt", "_job", "_depth"] as const;

/** A record as it is written. A user field with a name from `LINE_COLUMNS` is replaced. */
export function recordLine(record: StoredRecord): Fields {
  return {
    ...record.fields,
    _url: record.url,
    _status: record.status,
    _fetchedAt: new Date(record.fetchedAt).toISOString(),
    _job: record.jobId,
    _depth: record.depth,
  };
}
