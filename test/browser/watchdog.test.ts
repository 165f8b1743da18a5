/** Tests the watchdog while a browser is still starting. A shell takes the place of the browser. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";
import { expect, it } from "vitest";
import { shellArguments, startWatchdog } from "../../src/fetch/browser/watchdog.ts";
import { newFolder } from "../e2e/folder.ts";

const [ROUNDS, AT_ONCE] = [8, 20];
/** The time from the start to the end of a browser is this much longer for each further browser of a round. */
const STEP_MS = 0.5;

it("leaves no folder behind, at whatever moment the start of a browser is interrupted", async () => {
  const parent = newFolder();
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => startAndEnd(parent, nth * STEP_MS)));
  }
  expect(readdirSync(parent)).toEqual([]);
});

/**
 * The shell creates its profile late, like a browser on a busy machine. So it could create a folder again after the
 * watchdog has removed it.
 */
async function startAndEnd(parent: string, afterMs: number): Promise<void> {
  const folder = mkdtempSync(join(parent, "browser-"));
  const watchdog = await startWatchdog(folder);
  const late = ["-c", 'sleep 0.3; mkdir -p "$0/profile"', folder];
  const browser = spawn("/bin/sh", shellArguments(folder, "/bin/sh", late), { detached: true, stdio: "ignore" });
  const ended = once(browser, "close");
  await passed(afterMs);
  await watchdog.end();
  await ended;
}
