/** What a change of policy does to a site's arrival time (F2, F12). Pure: every backend moves it the same way. */
import { guardMs, type SitePolicy } from "../domain/politeness.ts";

/**
 * The arrival time as it would be had the requests that still count been made under the new policy: a stricter one
 * (a crawl-delay just read) holds from the last request on, not from the next, and a looser one frees the site at once
 * instead of after a wait that nobody asks for any more. Of a site without a rate the last request is not known.
 */
export function reprice(arrivalAt: number, now: number, from: SitePolicy, to: SitePolicy): number {
  if (from.intervalMs === 0 || from.intervalMs === to.intervalMs) return arrivalAt;
  const before = from.intervalMs + guardMs(from.intervalMs);
  const after = to.intervalMs + guardMs(to.intervalMs);
  // Slots sold ahead keep their times, so a looser policy moves only what comes after the last of them.
  const counting = after < before ? 1 : Math.ceil((arrivalAt - now) / before);
  return arrivalAt + Math.max(1, Math.min(from.burst, counting)) * (after - before);
}
