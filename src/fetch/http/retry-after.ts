/** A site that asks for more than this is asked again after this. */
export const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * How long a Retry-After header asks to wait at `now`: seconds or an HTTP date. A date in the past is 0; what is neither
 * says nothing.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, LONGEST_RETRY_AFTER_MS);
  // Date.parse alone would take "-5" or "1.5" for a date; HTTP dates begin with the day's name.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  return Math.min(Math.max(0, at - now), LONGEST_RETRY_AFTER_MS);
}
