/** Finds the line of the user's code that caused an error. */
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** `src/` or `dist/`: stack frames in this folder belong to Trawl. */
const OWN_FOLDER = dirname(dirname(fileURLToPath(import.meta.url)));
/** `    at page (/shop/spider.ts:18:15)`, or without a name and parentheses. */
const FRAME = /^\s*at (?:.*?\()?(?:async )?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/]).*):(\d+):(\d+)\)?$/;

/**
 * The first frame of the stack that is neither in Trawl nor in a package: `spider.ts:18:15`, relative to the working
 * directory if the file is in it. Undefined if there is no such frame. The module loader preserves line numbers, so the
 * line is correct for TypeScript files.
 */
export function errorLocation(thrown: unknown, cwd = process.cwd()): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  for (const line of String(thrown.stack).split("\n")) {
    const [, file = "", row, column] = FRAME.exec(line) ?? [];
    if (file === "" || file.startsWith(OWN_FOLDER) || /[\\/]node_modules[\\/]/.test(file)) continue;
    const near = relative(cwd, file);
    return `${near.startsWith("..") ? file : near}:${row}:${column}`;
  }
  return undefined;
}
