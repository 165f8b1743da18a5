/**
 * Adapts the theoretical arrival time (GCRA, see domain/politeness.ts) of a site when its rate changes, for clauses F2
 * and F12 of frontier.ts. The function is pure, so every backend gets the same result.
 */
import type { Rate } from "../domain/politeness.ts";

/**
 * Returns the arrival time that the site would have if its recent requests, at most one burst, had used the new rate.
 * So a stricter interval, such as a crawl-delay that was just read, already applies between the last request and the
 * next one. A looser rate takes effect at once. If the site was unlimited before, the time of its last request is
 * unknown, so the arrival time stays unchanged.
 */
export function rescaleArrival(arrivalAt: number, now: number, from: Rate, to: Rate): number {
  const [before, after] = [from.intervalMs, to.intervalMs];
  if (before === 0 || before === after) return arrivalAt;
  // A looser rate shortens only the interval after the last request.
  const affectedRequests = after < before ? 1 : Math.ceil((arrivalAt - now) / before);
  return arrivalAt + Math.max(1, Math.min(from.burst, affectedRequests)) * (after - before);
}
