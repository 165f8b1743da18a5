/** An instant that is still to come, in whole milliseconds; "for ever" and "never was" have none. */
export function futureInstant(at: number | undefined, now: number): number | undefined {
  return at === undefined || at <= now || at > LAST_INSTANT ? undefined : Math.ceil(at);
}

/** The last that a Date can be. */
const LAST_INSTANT = 8.64e15;
