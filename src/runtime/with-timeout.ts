/**
 * Calls `run`, and aborts its signal with `late()` after `limitMs`; Infinity means no limit. `run` must react to the
 * signal. The timer is always cleared.
 */
export async function withTimeout<T>(
  { limitMs, abort, late }: { limitMs: number; abort: AbortController; late: () => Error },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (limitMs === Number.POSITIVE_INFINITY) return run(abort.signal);
  const timer = setTimeout(() => abort.abort(late()), limitMs);
  try {
    return await run(abort.signal);
  } finally {
    clearTimeout(timer);
  }
}
