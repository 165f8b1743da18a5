/** How the compiled command line becomes few files: `vite build --config` this, in the folder of what was compiled. */
import { dirname, join, relative } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** What is started or imported by its name, and so stays where it is. Each is a file of `src/`. */
const ENTRIES = ["cli/main", "index", "extract/reading-thread", "cli/crawl/spider-thread"];

/**
 * Packages that stay packages: they have native parts, start files of their own, or must be the very copy that a user's
 * code has.
 */
const APART = ["@photostructure/sqlite", "playwright-core", "jiti", "@opentelemetry/api"];

const compiled = process.cwd();

/** A module that finds a file beside itself finds it there still, wherever its code has gone. */
function keepPlaces(): Plugin {
  const mark = (file: string) => `__placeOf(${JSON.stringify(file)})`;
  return {
    name: "keep-places",
    enforce: "pre",
    transform: (code, id) =>
      id.startsWith(compiled) ? code.replaceAll("import.meta.url", mark(relative(compiled, id))) : null,
    renderChunk: (code, { fileName }) =>
      code.replace(/__placeOf\("([^"]+)"\)/g, (_, file: string) => {
        const path = relative(dirname(fileName), file);
        return `new URL(${JSON.stringify(path.startsWith(".") ? path : `./${path}`)}, import.meta.url).href`;
      }),
  };
}

export default defineConfig({
  publicDir: false,
  plugins: [keepPlaces()],
  ssr: { noExternal: true, external: APART },
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
