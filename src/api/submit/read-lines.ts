/**
 * Reads entries of a URL list from a stream of lines. A line is a plain URL, a JSON string, or a request as a JSON
 * object with a `url`. Memory use is bounded.
 */
import { type BodySettings, MAX_TASK_BODY } from "../../domain/request.ts";
import { BATCH_CHARS } from "../../submit/submit-urls.ts";

const NEWLINE = 10;

export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  maxBatch: number,
  { requestBodyBytes }: Pick<BodySettings, "requestBodyBytes">,
): AsyncGenerator<string[]> {
  // Longer than any request. The rest of the line is dropped, and the line is refused as invalid.
  const maxLine = 4 * Math.max(MAX_TASK_BODY, requestBodyBytes);
  let batch: string[] = [];
  let chars = 0;
  let parts: Buffer[] = [];
  let partBytes = 0;

  /** The line that ends with `end`. The parts are joined once, because a line may consist of many chunks. */
  function lineEnding(end: Buffer): string {
    const line = parts.length === 0 ? end : Buffer.concat([...parts, end]);
    [parts, partBytes] = [[], 0];
    return line.toString("utf8");
  }

  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      const url = urlIn(lineEnding(bytes.subarray(from, at)));
      from = at + 1;
      if (url === undefined) continue;
      chars += url.length;
      if (batch.push(url) < maxBatch && chars < BATCH_CHARS) continue;
      yield batch;
      batch = [];
      chars = 0;
    }
    const rest = Buffer.from(bytes.subarray(from, from + maxLine - partBytes)); // a copy, so that the chunk can be freed
    if (rest.length > 0) parts.push(rest);
    partBytes += rest.length;
  }
  const last = urlIn(lineEnding(Buffer.alloc(0)));
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
