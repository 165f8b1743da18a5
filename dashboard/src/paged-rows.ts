/**
 * Rows of a list of any length, loaded page by page while the user scrolls. A search may have to read many pages to
 * find one row. After `EMPTY_PAGES_MAX` pages without a match, it waits until the user continues it.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** `searched` is how many rows the server searched; it defaults to the number of rows returned. */
type RowPage<T> = { rows: readonly T[]; next: string | null; searched?: number };

export type PagedRows<T> = {
  rows: readonly T[];
  isLoading: boolean;
  error: unknown;
  /** All rows were read and nothing is loading. */
  isOver: boolean;
  /** All rows were read. Stays true while they are loaded again. */
  isWhole: boolean;
  /** How many rows were searched, matching or not. */
  searched: number;
  /** Undefined if there are no more rows, or if the search waits for `continueSearch`. */
  loadMore: (() => void) | undefined;
  /** Set if the search stopped after many pages without a match: continues it. */
  continueSearch: (() => void) | undefined;
  reload: () => void;
};

type Loaded<T> = { rows: readonly T[]; next: string | null; searched: number };

const EMPTY = { rows: [], next: null, searched: 0 };
const EMPTY_PAGES_MAX = 20;

/** `fetchPage` returns the page at a cursor. A change of `deps` starts from the first page. */
export function usePagedRows<T>(
  fetchPage: (cursor: string | undefined, signal: AbortSignal) => Promise<RowPage<T>>,
  deps: readonly unknown[],
): PagedRows<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>(EMPTY);
  const [state, setState] = useState<{ isLoading: boolean; error?: unknown; isStuck?: boolean }>({ isLoading: true });
  const [reloads, setReloads] = useState(0);
  const abort = useRef(new AbortController());

  async function read(from: Loaded<T>, isFirst: boolean): Promise<void> {
    const { signal } = abort.current;
    setState({ isLoading: true });
    let current = from;
    try {
      for (let left = EMPTY_PAGES_MAX; left > 0; left -= 1) {
        const cursor = isFirst && current === from ? undefined : (current.next ?? undefined);
        const { rows, next, searched = rows.length } = await fetchPage(cursor, signal);
        if (signal.aborted) return;
        current = { rows: [...current.rows, ...rows], next, searched: current.searched + searched };
        // The old rows stay until the first new page has arrived, so the table does not flicker.
        setLoaded(current);
        if (rows.length > 0 || next === null) return setState({ isLoading: false });
      }
      setState({ isLoading: false, isStuck: true });
    } catch (error) {
      if (!signal.aborted) setState({ isLoading: false, error });
    }
  }

  useEffect(() => {
    abort.current = new AbortController();
    void read(EMPTY, true);
    return () => abort.current.abort();
  }, [...deps, reloads]);

  const { isLoading, error, isStuck = false } = state;
  const more = () => void read(loaded, false);
  const hasMore = loaded.next !== null && !isLoading && error === undefined;
  return {
    ...{ rows: loaded.rows, searched: loaded.searched, isLoading, error },
    isOver: loaded.next === null && !isLoading && error === undefined,
    isWhole: loaded.next === null,
    loadMore: hasMore && !isStuck ? more : undefined,
    continueSearch: hasMore && isStuck ? more : undefined,
    reload: useCallback(() => setReloads((before) => before + 1), []),
  };
}

/** Rows that are read from the iterator per page: as many as the client gets with one request. */
const ITERATED_PAGE = 500;
/** The iterator keeps its own position, so every next page has the same cursor. */
const NEXT = "next";

/** Like `usePagedRows`, for client methods that return an async iterator. */
export function useIteratedRows<T>(
  list: (options: { signal: AbortSignal }) => AsyncGenerator<T, void>,
  deps: readonly unknown[],
): PagedRows<T> {
  const iterator = useRef<AsyncGenerator<T, void> | undefined>(undefined);
  return usePagedRows(async (cursor, signal) => {
    if (cursor === undefined || iterator.current === undefined) iterator.current = list({ signal });
    const rows: T[] = [];
    while (rows.length < ITERATED_PAGE) {
      const next = await iterator.current.next();
      if (next.done === true) return { rows, next: null };
      rows.push(next.value);
    }
    return { rows, next: NEXT };
  }, deps);
}

/** `value`, updated only after it has not changed for `ms`. */
export function useDebounced<T>(value: T, ms = 300): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}
