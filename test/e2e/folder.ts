/** A temporary folder per test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Removed when the test has finished. Concurrent tests must pass the `onTestFinished` of their own context. */
export function newFolder(onFinished: (clear: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "trawl-e2e-"));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
