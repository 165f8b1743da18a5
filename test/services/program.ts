/**
 * A program of the tests in one file that a plain Node runs. Vitest's own transform does not reach other processes, and
 * jiti takes most of a second of CPU for each: too much where dozens are started.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const NAME = "program.mjs";

/** Built before the tests of the file or block that asks for it; the answer gives its path then. */
export function useProgram(source: URL): () => string {
  let folder = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "trawl-program-"));
    await buildTo(folder, fileURLToPath(source));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => join(folder, NAME);
}

async function buildTo(folder: string, source: string): Promise<void> {
  await build({
    configFile: false,
    root: ROOT,
    logLevel: "warn",
    publicDir: false,
    plugins: [{ name: "keep-places", enforce: "pre", transform: keepPlace }],
    // Of native code there is one copy, found from where our own code is.
    ssr: { noExternal: true, external: ["@photostructure/sqlite"] },
    build: {
      ssr: true,
      target: "node20",
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { input: source, output: { entryFileNames: NAME, codeSplitting: false } },
    },
  });
}

/** A module that finds a file beside itself finds it there still. */
function keepPlace(code: string, id: string): string | null {
  const isOurs = id.startsWith(ROOT) && !id.includes("/node_modules/");
  return isOurs ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)) : null;
}
