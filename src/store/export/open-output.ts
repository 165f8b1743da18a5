import type { CsvOptions } from "./csv-writer.ts";
import type { ExportFormat } from "./format.ts";
import { openRecordWriter } from "./open-record-writer.ts";
import { openPartFile, type PartFile } from "./part-file.ts";
import type { RecordWriter } from "./record-writer.ts";

type Output = Omit<RecordWriter, "end"> & Pick<PartFile, "close" | "abort">;

/**
 * Opens a file for `exportRecords`. It is written under a temporary name and renamed on `close`. `abort` keeps the
 * previous file. Throws BAD_OUTPUT, with the path and the fix, if the file cannot be written.
 */
export async function openOutput(path: string, format: ExportFormat, options: CsvOptions): Promise<Output> {
  const file = await openPartFile(path);
  const writer = await openRecordWriter(format, file, options);
  let isEnded = false;
  return {
    begin: writer.begin,
    write: writer.write,
    close: async () => {
      if (!isEnded) await writer.end();
      isEnded = true;
      await file.close();
    },
    abort: () => {
      isEnded = true;
      return file.abort();
    },
  };
}
