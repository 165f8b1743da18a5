/**
 * Lets a worker wait for work: woken at once by what this process queues, and by looking again every `pollMs` for what
 * other processes on the same file did.
 */
import type { Clock } from "../runtime/clock.ts";

export type Wakeups = {
  changed(): void;
  /** What a lease call has seen is no reason to wake: only what changes after it. */
  looked(): void;
  wait(until: number, signal: AbortSignal): Promise<void>;
};

/** Nobody reads it; without a reason each wait would end with a DOMException and its stack. */
const WOKEN = "woken";

export function createWakeups({ clock }: { clock: Clock }, { pollMs }: { pollMs: number }): Wakeups {
  const waiting = new Set<AbortController>();
  let hasChanged = false;
  return {
    looked() {
      hasChanged = false;
    },
    changed() {
      hasChanged = true;
      for (const waiter of waiting) waiter.abort(WOKEN);
    },
    async wait(until, signal) {
      const woken = new AbortController();
      const wake = () => woken.abort(WOKEN);
      waiting.add(woken);
      signal.addEventListener("abort", wake, { once: true });
      try {
        // Between the look and the wait something may have come: then there is nothing to wait for.
        if (signal.aborted || hasChanged) return;
        await clock.sleep(Math.min(pollMs, Math.max(0, until - clock.now())), woken.signal);
      } finally {
        waiting.delete(woken);
        signal.removeEventListener("abort", wake);
      }
    },
  };
}
