/**
 * Bundles the compiled command line into few files. `vite build --config` with this file runs in the folder of the
 * compiled code.
 */
import { dirname, join, relative } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** Files of `src/` that are started or imported by name, and therefore keep their path. */
const ENTRIES = ["cli/main", "index", "extract/reading-thread", "cli/crawl/spider-thread"];

/**
 * Packages that are not bundled: they have native parts, start files of their own, or must be the same copy that the
 * user's code imports.
 */
const EXTERNAL = ["@photostructure/sqlite", "playwright-core", "jiti", "@opentelemetry/api"];

const compiled = process.cwd();

/** Keeps the original path in `import.meta.url` of every module, so that the module finds the files in its folder. */
function keepPaths(): Plugin {
  const mark = (file: string) => `__pathOf(${JSON.stringify(file)})`;
  return {
    name: "keep-paths",
    enforce: "pre",
    transform: (code, id) =>
      id.startsWith(compiled) ? code.replaceAll("import.meta.url", mark(relative(compiled, id))) : null,
    renderChunk: (code, { fileName }) =>
      code.replace(/__pathOf\("([^"]+)"\)/g, (_, file: string) => {
        const path = relative(dirname(fileName), file);
        return `new URL(${JSON.stringify(path.startsWith(".") ? path : `./${path}`)}, import.meta.url).href`;
      }),
  };
}

export default defineConfig({
  publicDir: false,
  plugins: [keepPaths()],
  ssr: { noExternal: true, external: EXTERNAL },
  build: {
    ssr: true,
    target: "node20",
    emptyOutDir: false,
    license: { fileName: "licenses.md" },
    reportCompressedSize: false,
    rolldownOptions: {
      input: Object.fromEntries(ENTRIES.map((entry) => [entry, join(compiled, `${entry}.js`)])),
      output: { entryFileNames: "[name].js", chunkFileNames: "bundled/[name]-[hash].js" },
    },
  },
});
