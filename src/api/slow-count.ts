/**
 * A count that may take long, however few ask: whoever asks waits for it only so long, and has the last one meanwhile. After
 * each it rests many times as long as it took, for whoever counts has other work.
 */
import { within } from "./within.ts";

/** Counting takes at most a twentieth of the time. */
const RESTS = 20;

/** Undefined: it is not known yet, or cannot be had. */
export function createSlowCount(count: () => Promise<number>, patienceMs: number): () => Promise<number | undefined> {
  let last: number | undefined;
  let counting: Promise<void> | undefined;
  let restsUntil = Number.NEGATIVE_INFINITY;

  async function countNow(): Promise<void> {
    const beganAt = performance.now();
    last = await count().catch(() => undefined);
    const now = performance.now();
    restsUntil = now + (now - beganAt) * RESTS;
    counting = undefined;
  }

  return async () => {
    if (performance.now() >= restsUntil) counting ??= countNow();
    if (counting !== undefined) await within(counting, patienceMs);
    return last;
  };
}
