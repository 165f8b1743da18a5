import { defineConfig } from "vite";

export default defineConfig({
  // Relative URLs, so the page works behind any path prefix.
  base: "./",
  publicDir: false,
  build: {
    target: "es2023",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    emptyOutDir: true,
    // Lists which chunk imports which: test/dashboard/budget.test.ts measures the first load with it.
    manifest: "manifest.json",
    // The licenses of the bundled packages, which must be distributed with them.
    license: { fileName: "licenses.md" },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
