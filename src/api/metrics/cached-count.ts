/**
 * A count that may take long. A caller waits for a limited time, and gets the last count if the new one takes longer. After
 * each count there is a pause that is many times as long as the count took, because the broker has other work to do.
 */

/** Counting takes at most 1/20 of the time. */
const PAUSE_FACTOR = 20;

/** The returned function resolves to undefined if the count is not known yet, or cannot be read. */
export function createCachedCount(count: () => Promise<number>, patienceMs: number): () => Promise<number | undefined> {
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
    if (counting !== undefined) await resultWithin(counting, patienceMs);
    return last;
  };
}

/** The result of `work`; undefined if it fails, or takes longer than `patienceMs`. */
export async function resultWithin<T>(work: Promise<T>, patienceMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patienceMs, undefined);
  });
  const result = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return result;
}
