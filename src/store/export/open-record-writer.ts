import { createRecordWriter } from "./create-record-writer.ts";
import type { CsvOptions } from "./csv-writer.ts";
import type { ExportFormat } from "./format.ts";
import type { RecordWriter } from "./record-writer.ts";

/** The writer of any format, for a sink that accepts text and bytes. */
export async function openRecordWriter(
  format: ExportFormat,
  sink: { write(part: string | Uint8Array): Promise<void> },
  options: CsvOptions,
): Promise<RecordWriter> {
  if (format !== "parquet") return createRecordWriter(format, sink, options);
  // Loaded on first use, because only Parquet needs a package.
  const { createParquetWriter } = await import("./parquet-writer.ts");
  return createParquetWriter(sink, options);
}
