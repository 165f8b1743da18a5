import type { StoredRecord } from "../store.ts";
import { recordLine } from "./record-line.ts";
import { type RecordWriter, type TextSink, writeLines } from "./record-writer.ts";

/** One JSON object per line. */
export function createJsonlWriter(sink: TextSink): RecordWriter {
  return {
    begin: async () => {},
    write: (records) => writeLines(sink, linesOf(records)),
    end: async () => {},
  };
}

function* linesOf(records: readonly StoredRecord[]): Iterable<string> {
  for (const record of records) yield `${JSON.stringify(recordLine(record))}\n`;
}
