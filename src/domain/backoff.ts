/** Waits between attempts are 1, 2, 4, 8 … times the base, up to this limit. */
const LONGEST_BACKOFF_MS = 10 * 60_000;

/**
 * The wait before the next attempt after `failures` failed ones: exponential, plus jitter of up to a quarter. The
 * jitter is derived from `seed`, so that a task always waits the same time and all backends agree.
 */
export function backoffMs(baseMs: number, failures: number, seed: number): number {
  const wait = Math.min(baseMs * 2 ** (failures - 1), LONGEST_BACKOFF_MS);
  return Math.round(wait * (1 + 0.25 * fraction(seed * 31 + failures)));
}

/** Why a site is in backoff: the status of its response, or a robots.txt that could not be fetched. */
export type BackoffCause = "429" | "503" | "robots";

/** The cause of a backoff after a throttled response. */
export function backoffCauseOf(status: number | undefined): BackoffCause | undefined {
  if (status === 429) return "429";
  return status === 503 ? "503" : undefined;
}

/**
 * Describes the cause for users. `cause` is undefined if the backoff was started by a version of Trawl that did not
 * store causes.
 */
export function describeBackoff(cause: BackoffCause | undefined): string {
  if (cause === "429") return "it answered 429 (too many requests)";
  if (cause === "503") return "it answered 503 (service unavailable)";
  if (cause === "robots") return "its robots.txt could not be fetched";
  return "it answered 429 or 503, or its robots.txt could not be fetched";
}

/** How long the backoff of a site lasts after `incidents` throttled responses in a row without a Retry-After. */
export function siteBackoffMs(incidents: number): number {
  return Math.min(1000 * 2 ** (incidents - 1), 60_000);
}

/** Converts an integer to an evenly distributed number in [0, 1), with the finaliser of murmur3. */
function fraction(seed: number): number {
  let h = seed | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}
