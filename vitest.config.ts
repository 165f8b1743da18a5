import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";
import { globsOf, MAIN, NEED_REDIS, QUICK, SLOW_UNITS, UNITS } from "./scripts/test-groups.ts";
import { findProgram } from "./test/services/debian-programs.mjs";

/** Test files that cannot run on this machine. `npm test` prints the reason. */
const skipped = globsOf(findProgram("redis-server") === undefined ? NEED_REDIS : []);

export default defineConfig({
  test: {
    // Ends a test that hangs. No test takes this long, even on a machine with five times more work than it can do.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // One more than the two cores of a small machine: tests that start processes spend a third of their time waiting.
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
          exclude: SLOW_UNITS,
          // Unit tests leave no state behind, so all files share a process and its loaded modules. That saves a third
          // of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "quick", include: globsOf(QUICK) } },
      { extends: true, test: { name: "main", include: globsOf([...SLOW_UNITS, ...MAIN]), exclude: skipped } },
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
