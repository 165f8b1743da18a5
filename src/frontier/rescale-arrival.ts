/**
 * Adapts the arrival time of a site to a change of its policy (F2, F12). Pure, so that every backend gets the same
 * result.
 */
import { guardMs, type SitePolicy } from "../domain/politeness.ts";

/**
 * The arrival time as if the requests that still count had been made under the new policy. So a stricter policy, such
 * as a crawl-delay that was just read, applies from the last request on, not from the next one. A looser policy takes
 * effect at once. If the site had no rate, its last request is unknown, so the arrival time stays unchanged.
 */
export function rescaleArrival(arrivalAt: number, now: number, from: SitePolicy, to: SitePolicy): number {
  if (from.intervalMs === 0 || from.intervalMs === to.intervalMs) return arrivalAt;
  const before = from.intervalMs + guardMs(from.intervalMs);
  const after = to.intervalMs + guardMs(to.intervalMs);
  // Slots that were granted ahead keep their times, so a looser policy changes only the times after the last of them.
  const counting = after < before ? 1 : Math.ceil((arrivalAt - now) / before);
  return arrivalAt + Math.max(1, Math.min(from.burst, counting)) * (after - before);
}
