/** A folder of its own for every test, gone when the test is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Tests that run at the same time have to say which of them they are: with the `onTestFinished` of their own context. */
export function newFolder(onFinished: (clear: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "trawl-e2e-"));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
