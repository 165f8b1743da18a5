/**
 * Adapts the theoretical arrival time (GCRA, see domain/politeness.ts) of a site when its policy changes. Clauses F2
 * and F12 of frontier.ts. The function is pure, so every backend gets the same result.
 */
import { guardMs, type SitePolicy } from "../domain/politeness.ts";

/**
 * Returns the arrival time that the site would have if its recent requests, at most one burst, had used the new policy.
 * So a stricter interval, such as a crawl-delay that was just read, already applies between the last request and the
 * next one. A looser policy takes effect at once. If the site was unlimited before, the time of its last request is
 * unknown, so the arrival time stays unchanged.
 */
export function rescaleArrival(arrivalAt: number, now: number, from: SitePolicy, to: SitePolicy): number {
  if (from.intervalMs === 0 || from.intervalMs === to.intervalMs) return arrivalAt;
  const before = from.intervalMs + guardMs(from.intervalMs);
  const after = to.intervalMs + guardMs(to.intervalMs);
  // Slots that are already granted keep their times. So a looser policy shortens only the interval after the last slot.
  const affectedRequests = after < before ? 1 : Math.ceil((arrivalAt - now) / before);
  return arrivalAt + Math.max(1, Math.min(from.burst, affectedRequests)) * (after - before);
}
