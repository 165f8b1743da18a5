/** A digest of the code of a spider: its module and all local modules that it imports, directly or not. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Imports of local files. Packages are not covered. */
const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+)["']/g;
const ENDINGS = ["", ".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".json", "/index.ts", "/index.js"];

/** Further files are ignored. */
const MAX_FILES = 1_000;

export function spiderHash(path: string): string {
  const digest = createHash("sha256");
  const seen = new Set([resolve(path)]);
  for (const file of seen) {
    if (!existsSync(file)) continue; // loading it reports the error
    const text = readFileSync(file, "utf8");
    digest.update(`${text.length}\n${text}`);
    for (const [, target = ""] of text.matchAll(IMPORT)) {
      const found = findModule(resolve(dirname(file), target));
      if (found !== undefined && seen.size < MAX_FILES) seen.add(found);
    }
  }
  return digest.digest("base64url");
}

/** The file of an import. TypeScript imports may name the compiled file (`.js` for `.ts`). */
function findModule(base: string): string | undefined {
  const candidates = [...ENDINGS.map((ending) => base + ending), base.replace(/\.([cm]?)js$/, ".$1ts")];
  return candidates.find((file) => existsSync(file) && statSync(file).isFile());
}
