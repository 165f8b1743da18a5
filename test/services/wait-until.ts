import { setTimeout as sleep } from "node:timers/promises";

/** Polls `isSo` every `everyMs`. Returns false if it is not true within `mostMs`. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>, mostMs: number, everyMs = 5): Promise<boolean> {
  const giveUpAt = performance.now() + mostMs;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) return false;
    await sleep(everyMs);
  }
  return true;
}
