/**
 * Computes the pace of a job from irregular counts: events arrive every second, polled counts every few seconds. A
 * count that has not changed is stored only after `RECENT_MS`. Otherwise, reading the same count twice would look like
 * a stop, and the next count like a jump.
 */

/** `ended`: URLs that are done or dead. */
export type PaceSample = { at: number; pages: number; ended: number };
/**
 * `values`: the pages per second from each sample to the next. `pages`, `ended`: the current rates per second; undefined
 * until there are two samples.
 */
export type Pace = { values: readonly number[]; pages: number | undefined; ended: number | undefined };

const STEP_MS = 2_000;
const WINDOW_MS = 120_000;
/** The current rates are averages over at least this time. */
const RECENT_MS = 10_000;
/** With fewer URLs than this in the recent period, the pace is averaged over the whole window. */
const FEW = 10;
/** If the count has not changed for this long, the pace is 0. */
const STOPPED_MS = 30_000;

export function addSample(samples: readonly PaceSample[], sample: PaceSample): readonly PaceSample[] {
  const last = samples.at(-1);
  if (last !== undefined) {
    const isDue = sample.at - last.at >= (sample.ended === last.ended ? RECENT_MS : STEP_MS);
    if (!isDue) return samples;
  }
  return [...samples.filter(({ at }) => at >= sample.at - WINDOW_MS), sample];
}

export function paceOf(samples: readonly PaceSample[]): Pace {
  const values = samples.slice(1).map((sample, nth) => speed("pages", samples[nth], sample));
  const newest = samples.at(-1);
  if (newest === undefined || samples.length < 2) return { values, pages: undefined, ended: undefined };
  const since = startOfAverage(samples, newest);
  return { values, pages: speed("pages", since, newest), ended: speed("ended", since, newest) };
}

function startOfAverage(samples: readonly PaceSample[], newest: PaceSample): PaceSample | undefined {
  const before = (ms: number) => samples.findLast(({ at }) => at <= newest.at - ms);
  const [recent, older] = [before(RECENT_MS), before(STOPPED_MS)];
  if (recent !== undefined && newest.ended - recent.ended >= FEW) return recent;
  return older?.ended === newest.ended ? older : samples[0];
}

function speed(of: "pages" | "ended", one: PaceSample | undefined, other: PaceSample): number {
  if (one === undefined || other.at <= one.at) return 0;
  return Math.max(0, other[of] - one[of]) / ((other.at - one.at) / 1_000);
}
