/**
 * A count that may take long. A caller waits for a limited time, and gets the last count if the new one takes longer.
 * After each count there is a pause of 20 times its duration, to limit the load of the broker.
 */

/** Counting takes at most 1/20 of the time. */
const PAUSE_FACTOR = 20;

/** The returned function resolves to undefined if the first count is still running, or the last one failed. */
export function createCachedCount(count: () => Promise<number>, timeoutMs: number): () => Promise<number | undefined> {
  let last: number | undefined;
  let counting: Promise<void> | undefined;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  async function countNow(): Promise<void> {
    const startedAt = performance.now();
    last = await count().catch(() => undefined);
    const now = performance.now();
    pausedUntil = now + (now - startedAt) * PAUSE_FACTOR;
    counting = undefined;
  }

  return async () => {
    if (performance.now() >= pausedUntil) counting ??= countNow();
    if (counting !== undefined) await resultWithin(counting, timeoutMs);
    return last;
  };
}

/** The result of `work`; undefined if it fails or takes longer than `timeoutMs`. */
export async function resultWithin<T>(work: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  const result = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return result;
}
