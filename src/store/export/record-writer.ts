/** The contract of output formats: they convert records to text or bytes, with backpressure. */
import type { StoredRecord } from "../store.ts";
import type { Columns } from "./column-kind.ts";

/** Accepts text. Resolves when it can accept more. */
export type TextSink = { write(text: string): Promise<void> };

export type RecordWriter = {
  /**
   * Called at least once before records are written. A format that needs all fields in advance calls `findColumns`,
   * unless it was created with the fields. Other formats ignore `findColumns`.
   */
  begin(findColumns: () => Promise<Columns>): Promise<void>;
  write(records: readonly StoredRecord[]): Promise<void>;
  /** Writes the end of the format. Nothing may be written after it. */
  end(): Promise<void>;
};

/** Buffer size: large enough for efficient writes, and small compared with the memory of a process. */
const CHUNK_CHARS = 64 * 1024;

/** Buffers short texts and writes them in large chunks. */
export async function writeLines(sink: TextSink, lines: Iterable<string>): Promise<void> {
  let chunk = "";
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARS) continue;
    await sink.write(chunk);
    chunk = "";
  }
  if (chunk !== "") await sink.write(chunk);
}
