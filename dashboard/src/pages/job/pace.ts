/**
 * A pace, from counts that come as they come: every second by events, or every few seconds where they are asked for. A
 * count is taken when it has changed: one that is only old would look like a stop, and the next like a leap.
 */
export type Sample = { at: number; pages: number };
export type Pace = { values: readonly number[]; now: number | undefined };

const STEP_MS = 2_000;
const WINDOW_MS = 120_000;
/** The newest number is an average over this at least; what has not changed for as long has stopped. */
const RECENT_MS = 10_000;

export function noted(samples: readonly Sample[], heard: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined) {
    const isDue = heard.at - last.at >= (heard.pages === last.pages ? RECENT_MS : STEP_MS);
    if (!isDue) return samples;
  }
  return [...samples.filter(({ at }) => at >= heard.at - WINDOW_MS), heard];
}

export function paceOf(samples: readonly Sample[]): Pace {
  const values = samples.slice(1).map((sample, nth) => speed(samples[nth], sample));
  const newest = samples.at(-1);
  if (newest === undefined || samples.length < 2) return { values, now: undefined };
  const since = samples.findLast(({ at }) => at <= newest.at - RECENT_MS) ?? samples[0];
  return { values, now: speed(since, newest) };
}

function speed(one: Sample | undefined, other: Sample): number {
  if (one === undefined || other.at <= one.at) return 0;
  return Math.max(0, other.pages - one.pages) / ((other.at - one.at) / 1_000);
}
