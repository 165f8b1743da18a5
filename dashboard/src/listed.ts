/** A listing of the API, some rows at a time, as a table asks for them. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export type Listed<T> = {
  rows: readonly T[];
  error: unknown;
  isLoading: boolean;
  /** Undefined where there are no more. */
  loadMore: (() => void) | undefined;
  /** From the beginning. */
  reload(): void;
};

/** Rows that are taken at once: what one request of the client brings. */
const CHUNK = 500;

/** `deps` as of an effect: another of them begins anew. */
export function useListed<T>(
  list: (options: { signal: AbortSignal }) => AsyncGenerator<T, void>,
  deps: readonly unknown[],
): Listed<T> {
  const [state, setState] = useState<{ rows: readonly T[]; error?: unknown; isLoading: boolean; isWhole: boolean }>({
    ...{ rows: [], isLoading: true, isWhole: false },
  });
  const [nth, setNth] = useState(0);
  const more = useRef<() => Promise<void>>(async () => {});

  useEffect(() => {
    const leaving = new AbortController();
    const rows = list({ signal: leaving.signal });
    let isUnderWay = false;
    setState((before) => ({ ...before, isLoading: true, isWhole: false }));
    let isFirst = true;
    more.current = async () => {
      if (isUnderWay) return;
      isUnderWay = true;
      setState((before) => ({ ...before, isLoading: true }));
      try {
        const { taken, isWhole } = await take(rows);
        if (leaving.signal.aborted) return;
        // What was there before stays until it is known what there is now: nothing flickers.
        const isAnew = isFirst;
        isFirst = false;
        setState((before) => ({ rows: isAnew ? taken : [...before.rows, ...taken], isLoading: false, isWhole }));
      } catch (error) {
        if (!leaving.signal.aborted) setState((before) => ({ ...before, error, isLoading: false, isWhole: true }));
      } finally {
        isUnderWay = false;
      }
    };
    void more.current();
    return () => leaving.abort();
  }, [...deps, nth]);

  const loadMore = useCallback(() => void more.current(), []);
  const reload = useCallback(() => setNth((before) => before + 1), []);
  const { rows, error, isLoading, isWhole } = state;
  return { rows, error, isLoading, loadMore: isWhole ? undefined : loadMore, reload };
}

async function take<T>(rows: AsyncGenerator<T, void>): Promise<{ taken: T[]; isWhole: boolean }> {
  const taken: T[] = [];
  while (taken.length < CHUNK) {
    const next = await rows.next();
    if (next.done === true) return { taken, isWhole: true };
    taken.push(next.value);
  }
  return { taken, isWhole: false };
}
