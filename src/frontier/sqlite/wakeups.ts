/**
 * Lets a worker wait for work: woken at once by what this process queues, and by looking again every `pollMs` for what
 * other processes on the same file did.
 */
import type { Clock } from "../../runtime/clock.ts";

export type Wakeups = {
  changed(): void;
  wait(until: number, signal: AbortSignal): Promise<void>;
};

export function createWakeups({ clock }: { clock: Clock }, { pollMs }: { pollMs: number }): Wakeups {
  const waiting = new Set<AbortController>();
  return {
    changed() {
      for (const waiter of waiting) waiter.abort();
    },
    async wait(until, signal) {
      const woken = new AbortController();
      const wake = () => woken.abort();
      waiting.add(woken);
      signal.addEventListener("abort", wake, { once: true });
      try {
        if (signal.aborted) return;
        await clock.sleep(Math.min(pollMs, Math.max(0, until - clock.now())), woken.signal);
      } finally {
        waiting.delete(woken);
        signal.removeEventListener("abort", wake);
      }
    },
  };
}
