/**
 * Decides whether a throttled response (429 or 503) pauses the whole site, or only its own URL. Pure: the broker stores
 * the state of a site, and the worker that holds the term applies the same function, so that it stops at once.
 */
export type Throttling = {
  /**
   * Evidence that throttled responses of this site belong to single pages. A throttled response that follows a good
   * response adds 1. One that follows another throttled response subtracts 1.
   */
  isolated: number;
  /** Whether the last response was good. */
  isGood: boolean;
};

/** A site that has not responded yet. It counts as good, so that a broker stores nothing for sites without trouble. */
export const NO_RESPONSES: Throttling = { isolated: 0, isGood: true };

/** From this value of `isolated` on, one throttled response after a good one does not pause the site. */
const ENOUGH = 3;
/**
 * The maximum of `isolated`. If the whole site begins to fail, the second throttled response pauses it, and after this
 * many such responses `isolated` is 0 again.
 */
const MOST = 6;

export function areIsolated({ isolated }: Throttling): boolean {
  return isolated >= ENOUGH;
}

/**
 * The state after a throttled response, and whether the response pauses the site. `isRetry`: an earlier attempt of the
 * same URL failed too. While there is evidence for single pages, such a response says nothing new about the site: at
 * the end of a job only broken pages are left, and no good response can come between them.
 */
export function afterThrottled(before: Throttling, isRetry: boolean): Throttling & { pauses: boolean } {
  if (isRetry && before.isolated > 0) return { ...before, pauses: false };
  const isolated = before.isGood ? Math.min(MOST, before.isolated + 1) : Math.max(0, before.isolated - 1);
  return { isolated, isGood: false, pauses: !(before.isGood && areIsolated(before)) };
}
