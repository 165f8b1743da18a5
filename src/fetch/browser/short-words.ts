/** What Playwright says of a failure, in one short line: without its colours, its log and the inside of its own scripts. */
import { stripVTControlCharacters } from "node:util";
import { oneLine } from "../../runtime/one-line.ts";

export function shortWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [own = ""] = stripVTControlCharacters(message).split(/\n\s*(?:Call log:|at eval \()/, 1);
  return oneLine(own);
}
