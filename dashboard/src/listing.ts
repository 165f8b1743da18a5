/**
 * A list of any length, read a page at a time as somebody scrolls. A search may have to look through many rows to find
 * one: it goes on by itself for a while, and then asks whether it is to.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export type ListedPage<T> = { rows: readonly T[]; next: string | null; looked?: number };

export type Listing<T> = {
  rows: readonly T[];
  isLoading: boolean;
  error: unknown;
  /** All there was when it was read. */
  isOver: boolean;
  /** Whether the rows are all there were, also while they are read anew. */
  isWhole: boolean;
  /** How many were looked at, found or not. */
  looked: number;
  /** Undefined where there is no more, or where somebody has to say that it is to go on. */
  loadMore: (() => void) | undefined;
  /** Where it has looked for long and found nothing more: go on all the same. */
  goOn: (() => void) | undefined;
  reload: () => void;
};

type Held<T> = { rows: readonly T[]; next: string | null; looked: number };

const NOTHING = { rows: [], next: null, looked: 0 };
/** Answers without a find after which it asks. */
const PATIENCE = 20;

/** `deps` as of an effect: another of them begins anew. */
export function useListing<T>(
  ask: (cursor: string | undefined, signal: AbortSignal) => Promise<ListedPage<T>>,
  deps: readonly unknown[],
): Listing<T> {
  const [held, setHeld] = useState<Held<T>>(NOTHING);
  const [state, setState] = useState<{ isLoading: boolean; error?: unknown; isStuck?: boolean }>({ isLoading: true });
  const [nth, setNth] = useState(0);
  const leaving = useRef(new AbortController());

  async function read(from: Held<T>, isFirst: boolean): Promise<void> {
    const { signal } = leaving.current;
    setState({ isLoading: true });
    let sofar = from;
    try {
      for (let left = PATIENCE; left > 0; left -= 1) {
        const cursor = isFirst && sofar === from ? undefined : (sofar.next ?? undefined);
        const { rows, next, looked = rows.length } = await ask(cursor, signal);
        if (signal.aborted) return;
        sofar = { rows: [...sofar.rows, ...rows], next, looked: sofar.looked + looked };
        // What was there before stays until it is known what there is now: nothing flickers.
        setHeld(sofar);
        if (rows.length > 0 || next === null) return setState({ isLoading: false });
      }
      setState({ isLoading: false, isStuck: true });
    } catch (error) {
      if (!signal.aborted) setState({ isLoading: false, error });
    }
  }

  useEffect(() => {
    leaving.current = new AbortController();
    void read(NOTHING, true);
    return () => leaving.current.abort();
  }, [...deps, nth]);

  const { isLoading, error, isStuck = false } = state;
  const more = () => void read(held, false);
  const mayGoOn = held.next !== null && !isLoading && error === undefined;
  return {
    ...{ rows: held.rows, looked: held.looked, isLoading, error },
    isOver: held.next === null && !isLoading && error === undefined,
    isWhole: held.next === null,
    loadMore: mayGoOn && !isStuck ? more : undefined,
    goOn: mayGoOn && isStuck ? more : undefined,
    reload: useCallback(() => setNth((before) => before + 1), []),
  };
}

/** The same text, a moment after the last key was pressed. */
export function useSettled<T>(value: T, ms = 300): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
