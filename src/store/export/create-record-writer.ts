import type { StoredRecord } from "../store.ts";
import { type CsvOptions, createCsvWriter } from "./csv-writer.ts";
import type { TextFormat } from "./format.ts";
import { recordJson } from "./record-line.ts";
import { type RecordWriter, type TextSink, writeLines } from "./record-writer.ts";

/** The writer of a text format. Only CSV uses `columns`. */
export function createRecordWriter(format: TextFormat, sink: TextSink, { columns }: CsvOptions): RecordWriter {
  switch (format) {
    case "jsonl":
      return createJsonlWriter(sink);
    case "json":
      return createJsonWriter(sink);
    case "csv":
      return createCsvWriter(sink, { columns });
  }
}

/** One JSON object per line. */
function createJsonlWriter(sink: TextSink): RecordWriter {
  return {
    begin: async () => {},
    write: (records) => writeLines(sink, jsonLines(records)),
    end: async () => {},
  };
}

function* jsonLines(records: readonly StoredRecord[]): Iterable<string> {
  for (const record of records) yield `${recordJson(record)}\n`;
}

/** One JSON array with one object per line. It is valid after `end` has been called. */
function createJsonWriter(sink: TextSink): RecordWriter {
  let before = "[\n";

  function* arrayLines(records: readonly StoredRecord[]): Iterable<string> {
    for (const record of records) {
      yield before + recordJson(record);
      before = ",\n";
    }
  }

  return {
    begin: async () => {},
    write: (records) => writeLines(sink, arrayLines(records)),
    end: () => sink.write(before === "[\n" ? "[]\n" : "\n]\n"),
  };
}
