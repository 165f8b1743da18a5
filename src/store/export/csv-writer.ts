import type { Fields } from "../../domain/page.ts";
import { TrawlError } from "../../errors.ts";
import type { StoredRecord } from "../store.ts";
import { csvLine } from "./csv-cell.ts";
import { LINE_COLUMNS, recordLine } from "./record-line.ts";
import { type RecordWriter, type TextSink, writeLines } from "./record-writer.ts";

export type CsvOptions = {
  /** The fields to write, in order. If undefined, all fields: the records are then read once to find them. */
  columns: readonly string[] | undefined;
};

/** RFC 4180 in UTF-8 with a header. Throws BAD_OUTPUT for a record with a field that is not in the header. */
export function createCsvWriter(sink: TextSink, { columns }: CsvOptions): RecordWriter {
  let header: ReadonlySet<string> | undefined;

  async function writeHeader(fields: readonly string[]): Promise<ReadonlySet<string>> {
    const own = new Set<string>(LINE_COLUMNS);
    header = new Set([...fields.filter((name) => !own.has(name)), ...own]);
    await sink.write(csvLine([...header]));
    return header;
  }

  return {
    begin: async (findColumns) => {
      if (header === undefined) await writeHeader(columns ?? [...(await findColumns()).keys()]);
    },
    write: async (records) => {
      if (header === undefined) throw new Error("write was called before begin on a CSV writer");
      await writeLines(sink, linesOf(header, records));
    },
    end: async () => {
      if (header === undefined) await writeHeader(columns ?? []);
    },
  };
}

function* linesOf(header: ReadonlySet<string>, records: readonly StoredRecord[]): Iterable<string> {
  const names = [...header];
  for (const record of records) {
    const line = recordLine(record);
    refuseUnknown(header, line, record);
    // `line[name]` alone would find inherited properties such as `toString`.
    yield csvLine(names.map((name) => (Object.hasOwn(line, name) ? line[name] : undefined)));
  }
}

function refuseUnknown(header: ReadonlySet<string>, line: Fields, { id, jobId, url }: StoredRecord): void {
  const unknown = Object.keys(line).find((name) => !header.has(name));
  if (unknown === undefined) return;
  throw new TrawlError("BAD_OUTPUT", {
    op: "export.csv",
    message: `record ${id} of ${url} has the field ${JSON.stringify(unknown)}, which is not in the header; export as .jsonl, or export again when the job has ended`,
    detail: { jobId, id, field: unknown },
  });
}
