import { defineConfig } from "vitest/config";

/** Test files that leave a process behind: ../test-run.test.ts checks that the file or the run fails. */
export default defineConfig({
  test: {
    include: ["test/services/leaky/*.leaky.ts"],
    globalSetup: ["test/services/global-setup.ts"],
    setupFiles: ["test/services/setup-file.ts"],
  },
});
