/** The start URLs of a job as lines of text: a URL, or a request as JSON, per line. */
import type { JobInput } from "../../../../src/client/client.ts";

type UrlInput = NonNullable<JobInput["urls"]>[number];

/** A line that is not valid JSON stays a text. The server reports it. */
export function urlsIn(text: string): UrlInput[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map(entryIn);
}

export function linesOf(urls: readonly UrlInput[]): string {
  return urls.map((url) => (typeof url === "string" ? url : JSON.stringify(url))).join("\n");
}

/** The URL of the first entry. */
export function firstUrl([first]: readonly UrlInput[]): string | undefined {
  return typeof first === "object" ? first.url : first;
}

function entryIn(line: string): UrlInput {
  if (!line.startsWith("{")) return line;
  try {
    return JSON.parse(line) as UrlInput;
  } catch {
    return line;
  }
}
