/**
 * Vitest calls this function once per project. The first call begins the test run. The teardown of the first call runs
 * last and ends the test run.
 */
import type { TestProject } from "vitest/node";
import { ensureDist } from "../e2e/dist.ts";
import { beginTestRun, endTestRun } from "./test-run.mjs";

/** Projects with tests of the built command line. */
const NEED_DIST = ["main", "rest"];

export default async function setup({ name }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const folder = beginTestRun();
  if (NEED_DIST.includes(name)) await ensureDist();
  if (folder === undefined) return undefined;
  return async () => {
    // After a failed test, vitest has set the exit code. The files of the tests then help to find the cause.
    const keepsFolder = process.exitCode === 1;
    const left = await endTestRun(folder, { keepsFolder });
    if (keepsFolder) console.error(`The files of the tests are in ${folder}`);
    if (left.length === 0) return;
    process.exitCode = 1;
    console.error(["\nFAILED: processes outlived the tests and were killed:", ...left].join("\n  "));
  };
}
