/**
 * A pace, from counts that come as they come: every second by events, or every few seconds where they are asked for. A
 * count is taken when it has changed: one that is only old would look like a stop, and the next like a leap.
 */

/** `ended`: URLs that are done or were given up on. */
export type Sample = { at: number; pages: number; ended: number };
/** Each second, lately; undefined until it is known. */
export type Pace = { values: readonly number[]; pages: number | undefined; ended: number | undefined };

const STEP_MS = 2_000;
const WINDOW_MS = 120_000;
/** The newest number is an average over this at least. */
const RECENT_MS = 10_000;
/** Fewer than these say little of a pace: then it is that of the whole window. */
const FEW = 10;
/** What has not changed for so long has stopped. */
const STOPPED_MS = 30_000;

export function noted(samples: readonly Sample[], heard: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined) {
    const isDue = heard.at - last.at >= (heard.ended === last.ended ? RECENT_MS : STEP_MS);
    if (!isDue) return samples;
  }
  return [...samples.filter(({ at }) => at >= heard.at - WINDOW_MS), heard];
}

export function paceOf(samples: readonly Sample[]): Pace {
  const values = samples.slice(1).map((sample, nth) => speed("pages", samples[nth], sample));
  const newest = samples.at(-1);
  if (newest === undefined || samples.length < 2) return { values, pages: undefined, ended: undefined };
  const since = sinceWhen(samples, newest);
  return { values, pages: speed("pages", since, newest), ended: speed("ended", since, newest) };
}

function sinceWhen(samples: readonly Sample[], newest: Sample): Sample | undefined {
  const before = (ms: number) => samples.findLast(({ at }) => at <= newest.at - ms);
  const [recent, quiet] = [before(RECENT_MS), before(STOPPED_MS)];
  if (recent !== undefined && newest.ended - recent.ended >= FEW) return recent;
  return quiet?.ended === newest.ended ? quiet : samples[0];
}

function speed(of: "pages" | "ended", one: Sample | undefined, other: Sample): number {
  if (one === undefined || other.at <= one.at) return 0;
  return Math.max(0, other[of] - one[of]) / ((other.at - one.at) / 1_000);
}
