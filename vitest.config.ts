import { defineConfig } from "vitest/config";
import { globsOf, MAIN, NEED_REDIS, QUICK, UNITS } from "./scripts/lanes.ts";
import { LongestFirst } from "./scripts/longest-first.ts";
import { findProgram } from "./test/services/debian-programs.mjs";

/** Files that cannot run here. `npm test` has printed why. */
const skipped = globsOf(findProgram("redis-server") === undefined ? NEED_REDIS : []);

export default defineConfig({
  test: {
    // Ends a test that hangs. Far above the time that any test takes, also on a machine with five times the load it can bear.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // One more than a small machine has cores: tests of real processes wait for a third of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    globalSetup: ["test/services/global-setup.ts"],
    setupFiles: ["test/services/setup-file.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "units",
          include: globsOf(UNITS),
          // Unit tests leave no state behind. Files share a process and its loaded modules: that saves a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "quick", include: globsOf(QUICK) } },
      { extends: true, test: { name: "main", include: globsOf(MAIN), exclude: skipped } },
      {
        extends: true,
        test: {
          name: "rest",
          include: globsOf(["test/", "bench/"]),
          exclude: [...globsOf([...QUICK, ...MAIN]), ...skipped],
        },
      },
    ],
  },
});
