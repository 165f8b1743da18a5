/**
 * Lets a worker wait for work. Changes by this process wake it at once. For changes by other processes it polls every
 * `pollMs`.
 */
import type { Clock } from "../runtime/clock.ts";

type Wakeups = {
  changed(): void;
  /** Call this when a lease call starts: changes before it do not end the next wait. */
  leasing(): void;
  wait(until: number, signal: AbortSignal): Promise<void>;
};

/** An explicit abort reason: without one, each wait would create a DOMException with its stack. */
const WOKEN = "woken";

export function createWakeups({ clock }: { clock: Clock }, { pollMs }: { pollMs: number }): Wakeups {
  const waiting = new Set<AbortController>();
  let hasChanged = false;
  return {
    leasing() {
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
        // Something may have changed between the lease call and this one.
        if (signal.aborted || hasChanged) return;
        await clock.sleep(Math.min(pollMs, Math.max(0, until - clock.now())), woken.signal);
      } finally {
        waiting.delete(woken);
        signal.removeEventListener("abort", wake);
      }
    },
  };
}
