import type { StoredRecord } from "../store.ts";
import { recordLine } from "./record-line.ts";
import { type RecordWriter, type TextSink, writeLines } from "./record-writer.ts";

/** One JSON array with one object per line. It is valid after `end` has been called. */
export function createJsonWriter(sink: TextSink): RecordWriter {
  let before = "[\n";

  function* linesOf(records: readonly StoredRecord[]): Iterable<string> {
    for (const record of records) {
      yield before + JSON.stringify(recordLine(record));
      before = ",\n";
    }
  }

  return {
    begin: async () => {},
    write: (records) => writeLines(sink, linesOf(records)),
    end: () => sink.write(before === "[\n" ? "[]\n" : "\n]\n"),
  };
}
