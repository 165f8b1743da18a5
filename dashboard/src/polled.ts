/** Asks again and again, only while somebody looks; and does something once, saying how it went. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isApiError } from "../../src/client/api-error.ts";
import { comeBacks } from "./live.ts";
import { isVisible } from "./visible.ts";

export type Polled<T> = {
  /** The newest answer; stays where a later one failed. */
  value: T | undefined;
  /** Why the newest question has no answer. */
  error: unknown;
  /** Whether it was not answered yet, one way or the other. */
  isLoading: boolean;
  reload(): void;
};

/** What takes the server long is asked for less often: it gets so many times as long to itself. */
const REST = 20;

/** `everyMs: 0` asks once. `deps` as of an effect: another of them asks anew, and forgets the answer. */
export function usePolled<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  everyMs: number,
  deps: readonly unknown[] = [],
): Polled<T> {
  const [heard, setHeard] = useState<{ value?: T; error?: unknown }>({});
  const [nth, setNth] = useState(0);
  const [isLoading, setIsLoading] = useState(true);
  const isShown = isVisible.value;
  const nthBack = comeBacks.value;

  useEffect(() => {
    setHeard({});
    setIsLoading(true);
  }, deps);

  useEffect(() => {
    if (!isShown) return;
    const leaving = new AbortController();
    let timer: number | undefined;
    async function look(): Promise<void> {
      const askedAt = performance.now();
      try {
        const value = await ask(leaving.signal);
        if (!leaving.signal.aborted) setHeard({ value });
      } catch (error) {
        if (!leaving.signal.aborted) setHeard((before) => afterFailure(before, error));
      }
      if (leaving.signal.aborted) return;
      setIsLoading(false);
      const waitMs = Math.max(everyMs, (performance.now() - askedAt) * REST);
      if (everyMs > 0) timer = window.setTimeout(look, waitMs);
    }
    void look();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [...deps, everyMs, isShown, nthBack, nth]);

  const reload = useCallback(() => setNth((before) => before + 1), []);
  return { value: heard.value, error: heard.error, isLoading, reload };
}

/** While the server is away that is said once, above the page, and what was known stays. */
function afterFailure<T>(before: { value?: T; error?: unknown }, error: unknown): { value?: T; error?: unknown } {
  const isKnown = before.value !== undefined && isApiError(error, "API_UNREACHABLE");
  return isKnown ? before : { ...before, error };
}

export type Action<Words extends unknown[]> = {
  run(...words: Words): Promise<void>;
  isBusy: boolean;
  error: unknown;
  clear(): void;
};

/** For what a button does: not twice at once, and what goes wrong is there to be shown beside it. */
export function useAction<Words extends unknown[]>(act: (...words: Words) => Promise<unknown>): Action<Words> {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const isUnderWay = useRef(false);
  async function run(...words: Words): Promise<void> {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setState({ isBusy: true });
    try {
      await act(...words);
      setState({ isBusy: false });
    } catch (error) {
      setState({ isBusy: false, error });
    } finally {
      isUnderWay.current = false;
    }
  }
  return { run, isBusy: state.isBusy, error: state.error, clear: () => setState({ isBusy: false }) };
}
