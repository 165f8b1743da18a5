/** Creates a temporary folder for a test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * The folder is removed when the test has finished. A concurrent test must pass the `onTestFinished` of its own
 * context.
 */
export function newFolder(onFinished: (clear: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "trawl-e2e-"));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
