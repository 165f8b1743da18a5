/** Ctrl-C and SIGTERM: the first asks for a clean stop, the second ends the process at once. The only home of `process.on`. */

export type Stops = {
  /** Calls `stop` on the first signal. */
  once(stop: () => void): { forget(): void };
  /** Whether a signal has come. */
  readonly isAsked: boolean;
};

export const INTERRUPTED = 130;

export function listenForStops(): Stops {
  const listeners = new Set<() => void>();
  let isAsked = false;
  function onSignal(): void {
    // Nothing is lost by ending now: leases expire or are found abandoned, and what was written is written.
    if (isAsked || listeners.size === 0) process.exit(INTERRUPTED);
    isAsked = true;
    for (const listener of listeners) listener();
  }
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    once(stop) {
      listeners.add(stop);
      return { forget: () => void listeners.delete(stop) };
    },
    get isAsked() {
      return isAsked;
    },
  };
}
