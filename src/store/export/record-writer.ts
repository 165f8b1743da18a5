/** The contract of output formats: records in, text out, with backpressure. */
import type { StoredRecord } from "../store.ts";
import type { Columns } from "./column-kind.ts";

/** Accepts text. Resolves when it can accept more. */
export type TextSink = { write(text: string): Promise<void> };

export type RecordWriter = {
  /**
   * Called once or more before records are written. A format that lists all fields first calls the function to find
   * them, unless it was given the fields. Other formats ignore it.
   */
  begin(findColumns: () => Promise<Columns>): Promise<void>;
  write(records: readonly StoredRecord[]): Promise<void>;
  /** Writes the end of the format. Nothing may be written after it. */
  end(): Promise<void>;
};

/** Buffer size: large enough for efficient writes, small enough for memory. */
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
