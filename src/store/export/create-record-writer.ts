import { type CsvOptions, createCsvWriter } from "./csv-writer.ts";
import type { TextFormat } from "./format.ts";
import { createJsonWriter } from "./json-writer.ts";
import { createJsonlWriter } from "./jsonl-writer.ts";
import type { RecordWriter, TextSink } from "./record-writer.ts";

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
