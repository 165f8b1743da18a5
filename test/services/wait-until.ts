import { setTimeout as sleep } from "node:timers/promises";

/** Asks every `everyMs` whether it is so; false if it is not within `mostMs`. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>, mostMs: number, everyMs = 5): Promise<boolean> {
  const giveUpAt = performance.now() + mostMs;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) return false;
    await sleep(everyMs);
  }
  return true;
}
