import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";

export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "test/**/*.test.ts",
      "bench/**/*.test.mjs",
      "scripts/**/*.test.ts",
      "dashboard/**/*.test.ts",
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than a small machine has cores: tests of real processes wait for a third of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
  },
});
