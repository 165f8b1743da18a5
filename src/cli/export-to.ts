/** Writes a job's records to a file, or to stdout for `-`. */
import { TrawlError } from "../errors.ts";
import { createRecordWriter } from "../store/export/create-record-writer.ts";
import { exportRecords } from "../store/export/export-records.ts";
import { type ExportFormat, formatOf, parseFormat, type TextFormat } from "../store/export/format.ts";
import { openOutput } from "../store/export/open-output.ts";
import type { Store } from "../store/store.ts";
import type { Screen } from "./terminal.ts";

/**
 * Checks the output before a crawl starts. Throws BAD_OUTPUT if the file cannot be written. An existing file is not
 * changed.
 */
export async function checkOutput(path: string, format?: string): Promise<void> {
  const output = await openOutput(path, chosenFormat(path, format), { columns: undefined });
  await output.abort();
}

/** Exports all records of a job and resolves with their number. A file gets its final name only when it is complete. */
export async function exportTo(
  { records, screen }: { records: Pick<Store, "readRecords">; screen: Screen },
  jobId: string,
  path: string,
  columns: readonly string[] | undefined,
  format?: string,
): Promise<number> {
  if (path === "-") {
    const writer = createRecordWriter(textFormat(format), { write: screen.out }, { columns });
    const { count } = await exportRecords(records, jobId, writer, { afterId: 0 });
    await writer.end();
    return count;
  }
  const output = await openOutput(path, chosenFormat(path, format), { columns });
  try {
    const { count } = await exportRecords(records, jobId, output, { afterId: 0 });
    await output.close();
    return count;
  } catch (error) {
    await output.abort();
    throw error;
  }
}

/** The format of records on stdout. Throws BAD_OUTPUT for a binary format, which must not be written to a terminal. */
function textFormat(name: string | undefined): TextFormat {
  const format = chosenFormat("-.jsonl", name);
  if (format !== "parquet") return format;
  throw new TrawlError("BAD_OUTPUT", {
    op: "export.format",
    message: "Parquet is a binary format and cannot be written to stdout; set a file: --out records.parquet",
  });
}

function chosenFormat(path: string, format: string | undefined): ExportFormat {
  return format === undefined ? formatOf(path) : parseFormat(format);
}
