import { setTimeout as sleep } from "node:timers/promises";

/** Polls `condition` every `everyMs`. Returns false if it is not true within `timeoutMs`. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  everyMs = 5,
): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) return false;
    await sleep(everyMs);
  }
  return true;
}
