/**
 * Runs `run`, and aborts it with `late()` after `limitMs`; Infinity: no limit. `run` itself must react to the signal. Leaves no
 * timer behind.
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
