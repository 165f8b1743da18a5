/** How fast pages come, from what was heard while somebody looked. */
import { useEffect, useRef } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { now } from "../../visible.ts";
import { noted, type Pace, paceOf, type Sample } from "./pace.ts";

export function usePace(job: JobOut): Pace {
  const samples = useRef<readonly Sample[]>([]);
  const { pages } = job.tally;
  useEffect(() => {
    samples.current = noted(samples.current, { at: Date.now(), pages });
  }, [now.value, pages]);
  return job.finishedAt === null ? paceOf(samples.current) : { values: [], now: undefined };
}
