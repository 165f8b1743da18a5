/**
 * Reads URLs from a stream of lines. A line is a JSON string, an object with a `url`, or a plain URL. Memory use is
 * bounded.
 */

/** Longer than any URL. The rest of the line is dropped, and the line is refused as an invalid URL. */
const MAX_LINE = 65_536;
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

/** The URL of a line; undefined for an empty line. Invalid URLs are refused later. */
function urlIn(line: string): string | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  if (!text.startsWith('"') && !text.startsWith("{")) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return value;
    const { url } = value as { url?: unknown };
    return typeof url === "string" ? url : text;
  } catch {
    return text;
  }
}
