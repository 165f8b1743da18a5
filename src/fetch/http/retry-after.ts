/** The maximum delay. Longer delays are reduced to it. */
export const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * The delay of a Retry-After header at `now`: seconds or an HTTP date. A date in the past is 0; an invalid value is
 * undefined.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, LONGEST_RETRY_AFTER_MS);
  // Date.parse alone would accept "-5" or "1.5". HTTP dates begin with the name of the day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  return Math.min(Math.max(0, at - now), LONGEST_RETRY_AFTER_MS);
}
