/** Vitest runs this before each test file. If the file leaves processes behind, it fails, and they are killed. */
import { relative } from "node:path";
import { afterAll, expect } from "vitest";
import { beginTestFile, endTestFile } from "./test-run.mjs";

beginTestFile(relative(process.cwd(), expect.getState().testPath ?? "an unknown file"));

const HOOK_MS = 60_000;

// The first hook that is registered is the last one to run.
afterAll(async () => {
  const left = await endTestFile();
  if (left.length > 0)
    throw new Error(["processes outlived the tests of this file, and were killed:", ...left].join("\n  "));
}, HOOK_MS);
