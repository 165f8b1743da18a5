/** How requests wait for their turn at a site, and how a response makes all of them wait. */
import type { SiteQueue } from "./site-queue.ts";

/** A response pauses the site: its term ends. The broker must know that before it opens the next term. */
export function hold(queue: SiteQueue | undefined, claim: string, now: number): void {
  if (queue === undefined) return;
  queue.pacer?.end(now);
  queue.heldBy = claim;
}

/** Resolves at the turn of a request, or when `signal` aborts; then it calls `onLeft` before. */
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
