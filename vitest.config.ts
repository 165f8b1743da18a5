import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than a small machine has cores: tests of real processes wait for a third of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: { name: "whole", include: ["test/**/*.test.ts", "bench/**/*.test.mjs"] },
      },
      {
        extends: true,
        test: {
          name: "units",
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts", "dashboard/**/*.test.ts"],
          // They leave nothing behind: files share a process and what it has loaded, which is a third of their time.
          isolate: false,
        },
      },
    ],
  },
});
