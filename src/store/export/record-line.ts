import type { Fields } from "../../domain/page.ts";
import type { StoredRecord } from "../store.ts";

/** What every output line says of itself, after the user's own fields. */
export const LINE_COLUMNS = ["_url", "_status", "_fetchedAt", "_job", "_depth"] as const;

/** A record as the user gets it. The names of `LINE_COLUMNS` are ours: a field that has one of them gives way. */
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
