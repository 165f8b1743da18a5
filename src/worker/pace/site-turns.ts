/** How requests wait for their turn at a site, and how a response makes all of them wait. */
import type { SiteQueue } from "./site-queue.ts";

/**
 * Ends the term of a site whose response starts a backoff. Nothing starts until `claim` is settled, because the broker
 * must know of the backoff before it opens the next term.
 */
export function hold(queue: SiteQueue | undefined, claim: string, now: number): void {
  if (queue === undefined) return;
  queue.pacer?.end(now);
  queue.heldBy = claim;
}

/** Resolves at the turn of a request. If `signal` aborts earlier, it calls `onLeft` and resolves. */
export function joinQueue(queue: SiteQueue, signal: AbortSignal, onLeft: () => void): Promise<void> {
  return new Promise((resolve) => {
    const request = () => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      queue.requests = queue.requests.filter((one) => one !== request);
      onLeft();
      request();
    };
    queue.requests.push(request);
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
  });
}
