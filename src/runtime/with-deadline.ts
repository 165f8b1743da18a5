/**
 * Runs something and aborts it with `late()` when it has taken `limitMs`; Infinity is no limit. Whoever runs it decides
 * what becomes of it then: nothing is left behind here.
 */
export async function withDeadline<T>(
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
