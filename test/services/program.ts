/**
 * Bundles a TypeScript program of the tests into one file that plain Node runs. Vitest does not transform code of other
 * processes, and jiti takes most of a second of CPU for each: too much for tests that start dozens.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const NAME = "program.mjs";

/** Builds the program before the tests of the calling file or block. The returned function gives its path. */
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
    plugins: [{ name: "keep-paths", enforce: "pre", transform: keepPath }],
    // Native code cannot be bundled; Node finds it from the path of our own code.
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

/** Keeps `import.meta.url` of our modules, so that they find files in their folder. */
function keepPath(code: string, id: string): string | null {
  const isOurs = id.startsWith(ROOT) && !id.includes("/node_modules/");
  return isOurs ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)) : null;
}
