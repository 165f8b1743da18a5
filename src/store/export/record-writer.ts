/** The contract of the output formats: records in, text out, at the pace of whoever takes the text. */
import type { StoredRecord } from "../store.ts";
import type { Columns } from "./column-kind.ts";

/** Takes text; resolves when it may be given more. */
export type TextSink = { write(text: string): Promise<void> };

export type RecordWriter = {
  /**
   * Called before records are written, once or more. A format that names all fields up front asks for them there, if
   * it has not been told; the others never do.
   */
  begin(findColumns: () => Promise<Columns>): Promise<void>;
  write(records: readonly StoredRecord[]): Promise<void>;
  /** Writes what ends the format. Nothing may be written after it. */
  end(): Promise<void>;
};

/** Enough to make a write worth its call, little enough to hold. */
const CHUNK_CHARS = 64 * 1024;

/** Sends many short texts as few long ones. */
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
