/** Hooks for API calls: `usePolled` repeats a request while the tab is visible, `useAction` runs one on demand. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isApiError } from "../../src/client/api-error.ts";
import { reconnects } from "./live.ts";
import { isVisible } from "./visible.ts";

type Polled<T> = {
  /** The newest response. It stays if a later request fails. */
  value: T | undefined;
  /** Why the newest request failed. */
  error: unknown;
  /** True until the first request has succeeded or failed. */
  isLoading: boolean;
  reload(): void;
};

/** A request that took 1 s is repeated after 20 s at the earliest, so that slow requests do not overload the server. */
const REST_FACTOR = 20;

/** `everyMs: 0` sends one request. A change of `deps` discards the response and sends a new request. */
export function usePolled<T>(
  request: (signal: AbortSignal) => Promise<T>,
  everyMs: number,
  deps: readonly unknown[] = [],
): Polled<T> {
  const [result, setResult] = useState<{ value?: T; error?: unknown }>({});
  const [reloads, setReloads] = useState(0);
  const [isLoading, setIsLoading] = useState(true);
  const isShown = isVisible.value;
  const reconnectCount = reconnects.value;

  useEffect(() => {
    setResult({});
    setIsLoading(true);
  }, deps);

  useEffect(() => {
    if (!isShown) return;
    const abort = new AbortController();
    let timer: number | undefined;
    async function poll(): Promise<void> {
      const sentAt = performance.now();
      try {
        const value = await request(abort.signal);
        if (!abort.signal.aborted) setResult({ value });
      } catch (error) {
        if (!abort.signal.aborted) setResult((before) => afterFailure(before, error));
      }
      if (abort.signal.aborted) return;
      setIsLoading(false);
      const waitMs = Math.max(everyMs, (performance.now() - sentAt) * REST_FACTOR);
      if (everyMs > 0) timer = window.setTimeout(poll, waitMs);
    }
    void poll();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [...deps, everyMs, isShown, reconnectCount, reloads]);

  const reload = useCallback(() => setReloads((before) => before + 1), []);
  return { value: result.value, error: result.error, isLoading, reload };
}

/**
 * If the server is unreachable, the last response stays and no error is added: the banner above the page reports that.
 */
function afterFailure<T>(before: { value?: T; error?: unknown }, error: unknown): { value?: T; error?: unknown } {
  const isReported = before.value !== undefined && isApiError(error, "API_UNREACHABLE");
  return isReported ? before : { ...before, error };
}

type Action<Args extends unknown[]> = {
  run(...args: Args): Promise<void>;
  isBusy: boolean;
  error: unknown;
  clear(): void;
};

/** For buttons: `run` does nothing while a previous run is pending, and `error` is shown next to the button. */
export function useAction<Args extends unknown[]>(act: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const isRunning = useRef(false);
  async function run(...args: Args): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setState({ isBusy: true });
    try {
      await act(...args);
      setState({ isBusy: false });
    } catch (error) {
      setState({ isBusy: false, error });
    } finally {
      isRunning.current = false;
    }
  }
  return { run, isBusy: state.isBusy, error: state.error, clear: () => setState({ isBusy: false }) };
}
