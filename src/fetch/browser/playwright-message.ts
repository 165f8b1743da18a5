/** Playwright's error message in one short line, without colours, its log and stack frames of its scripts. */
import { stripVTControlCharacters } from "node:util";
import { shortMessage } from "../../runtime/short-message.ts";

export function playwrightMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [own = ""] = stripVTControlCharacters(message).split(/\n\s*(?:Call log:|at eval \()/, 1);
  return shortMessage(own);
}
