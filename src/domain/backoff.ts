/** Waits between tries: 1, 2, 4, 8 … times the base, never over this. */
export const LONGEST_BACKOFF_MS = 10 * 60_000;

/**
 * How long the try after `failures` failed ones waits: exponential with jitter of up to a quarter on top. The jitter
 * comes from `seed`, so that the same task always waits the same and every backend agrees.
 */
export function backoffMs(baseMs: number, failures: number, seed: number): number {
  const wait = Math.min(baseMs * 2 ** (failures - 1), LONGEST_BACKOFF_MS);
  return Math.round(wait * (1 + 0.25 * fraction(seed * 31 + failures)));
}

/** Which of the two it was is not kept. */
export const WHY_A_SITE_RESTS = "it asked for less (429 or 503), or its robots.txt could not be had";

/** How long a whole site rests after it throttled us `incidents` times in a row without saying for how long. */
export function siteRestMs(incidents: number): number {
  return Math.min(1000 * 2 ** (incidents - 1), 60_000);
}

/** A number in [0, 1) from an integer, well spread (one round of the murmur3 finaliser). */
function fraction(seed: number): number {
  let h = seed | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}
