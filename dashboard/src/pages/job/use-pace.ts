/** How fast pages come, from what was heard while somebody looked. */
import { useEffect, useRef } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { now } from "../../visible.ts";

type Sample = { at: number; pages: number };
export type Pace = { values: readonly number[]; now: number | undefined };

const STEP_MS = 2_000;
const WINDOW_MS = 120_000;
/** The newest number is an average over this. */
const RECENT_MS = 10_000;

export function usePace(job: JobOut): Pace {
  const samples = useRef<Sample[]>([]);
  const at = now.value;
  useEffect(() => {
    const list = samples.current;
    const last = list.at(-1);
    if (last === undefined || at - last.at >= STEP_MS) list.push({ at, pages: job.tally.pages });
    while (list.length > 0 && (list[0]?.at ?? at) < at - WINDOW_MS) list.shift();
  }, [at]);
  if (job.finishedAt !== null) return { values: [], now: undefined };
  const list = samples.current;
  const values = list.slice(1).map((sample, nth) => speed(list[nth], sample));
  const since = list.find((sample) => sample.at >= at - RECENT_MS);
  const newest = list.at(-1);
  return { values, now: since === newest || newest === undefined ? undefined : speed(since, newest) };
}

function speed(one: Sample | undefined, other: Sample): number {
  if (one === undefined || other.at <= one.at) return 0;
  return Math.max(0, other.pages - one.pages) / ((other.at - one.at) / 1_000);
}
