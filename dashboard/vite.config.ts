import { defineConfig } from "vite";

export default defineConfig({
  // Relative: the page works behind any path prefix, without being told of it.
  base: "./",
  publicDir: false,
  build: {
    target: "es2023",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    emptyOutDir: true,
    // What loads what: for the test of how much a first visit loads.
    manifest: "manifest.json",
    // Of the packages that are built in: whoever gets them gets these, too.
    license: { fileName: "licenses.md" },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
