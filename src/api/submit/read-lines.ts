/**
 * Reads entries of a URL list from a stream of lines. A line is a plain URL, a JSON string, or a request as a JSON
 * object with a `url`. Memory use is bounded.
 */
import { MAX_REQUEST_BODY } from "../../domain/request.ts";

/** Longer than any request. The rest of the line is dropped, and the line is refused as invalid. */
const MAX_LINE = 4 * MAX_REQUEST_BODY;
const NEWLINE = 10;

export async function* readLines(source: AsyncIterable<Uint8Array>, maxBatch: number): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      const url = urlIn(bytes.toString("utf8", from, at));
      from = at + 1;
      if (url === undefined || batch.push(url) < maxBatch) continue;
      yield batch;
      batch = [];
    }
    rest = Buffer.from(bytes.subarray(from, from + MAX_LINE)); // a copy, so that the chunk can be freed
  }
  const last = urlIn(rest.toString("utf8"));
  if (last !== undefined) batch.push(last);
  if (batch.length > 0) yield batch;
}

/** The URL of a line, or its request as JSON; undefined for an empty line. Invalid URLs are refused later. */
function urlIn(line: string): string | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  if (!text.startsWith('"') && !text.startsWith("{")) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return value;
    const { url, ...request } = value as { url?: unknown };
    return typeof url === "string" && Object.keys(request).length === 0 ? url : text;
  } catch {
    return text;
  }
}
