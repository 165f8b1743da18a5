/** `at` in whole ms, if it is in the future. Undefined if it is not, or if it is later than a Date can represent. */
export function futureInstant(at: number | undefined, now: number): number | undefined {
  return at === undefined || at <= now || at > LAST_INSTANT ? undefined : Math.ceil(at);
}

/** The latest instant that a Date can represent. */
const LAST_INSTANT = 8.64e15;
