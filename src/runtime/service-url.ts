/** Common parts of connection URLs. */
import { readFileSync } from "node:fs";
import { TrawlError } from "../errors.ts";

/** User name and password of `name:password@`, if present. */
export function readCredentials(authority: string): string[] {
  const text = authority.slice(0, -1);
  const at = text.indexOf(":");
  return at < 0 ? [decode(text)] : [decode(text.slice(0, at)), decode(text.slice(at + 1))];
}

/**
 * Decodes percent-encoding. Returns the text unchanged if it is not validly encoded, e.g. a password that was typed as
 * it is.
 */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads a certificate or key file of a connection URL. Throws BAD_CONFIG if it cannot be read. */
export function readTlsFile(name: string, path: string, source: { op: string; setting: string }): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new TrawlError("BAD_CONFIG", {
      op: source.op,
      message: `${source.setting}: ${name}=${path} cannot be read (${(cause as Error).message}); set a PEM file that this user can read`,
      detail: { name, path },
      cause,
    });
  }
}
