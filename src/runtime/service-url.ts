/** What the addresses of servers have in common, whichever server it is. */
import { readFileSync } from "node:fs";
import { TrawlError } from "../errors.ts";

/** Name and password, as far as they are there, of `name:password@`. */
export function readCredentials(authority: string): string[] {
  const text = authority.slice(0, -1);
  const at = text.indexOf(":");
  return at < 0 ? [decode(text)] : [decode(text.slice(0, at)), decode(text.slice(at + 1))];
}

/** A password typed as it is may not be a valid encoding. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A certificate or key that an address names. Throws BAD_CONFIG. */
export function readTlsFile(name: string, path: string, asked: { op: string; setting: string }): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new TrawlError("BAD_CONFIG", {
      op: asked.op,
      message: `${asked.setting}: ${name}=${path} cannot be read (${(cause as Error).message}); name a PEM file that this user may read`,
      detail: { name, path },
      cause,
    });
  }
}
