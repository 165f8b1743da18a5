/** How fast jobs go, from what was heard of them while somebody looked. Kept from page to page. */
import { effect } from "@preact/signals";
import type { JobOut } from "../../../../src/client/client.ts";
import { liveJobs } from "../../live.ts";
import { now } from "../../visible.ts";
import { noted, type Pace, paceOf, type Sample } from "./pace.ts";

const heard = new Map<string, readonly Sample[]>();
const UNKNOWN_PACE: Pace = { values: [], pages: undefined, ended: undefined };

export function startPaces(): void {
  effect(() => {
    const jobs = liveJobs.value;
    if (now.value > 0) for (const job of jobs?.values() ?? []) hear(job);
    if (jobs === undefined) heard.clear();
  });
}

/** Of jobs that the stream does not follow, whoever shows them has to tell. */
export function hear({ id, state, tally, counts }: JobOut): void {
  if (state !== "running") heard.delete(id);
  else {
    const sample = { at: Date.now(), pages: tally.pages, ended: counts.done + counts.dead };
    heard.set(id, noted(heard.get(id) ?? [], sample));
  }
}

export function paceOfJob({ id, state }: JobOut): Pace {
  return state === "running" ? paceOf(heard.get(id) ?? []) : UNKNOWN_PACE;
}

/** Lately; of one that does not run, or was not seen running yet, since it began. */
export function pagesPerSecond(job: JobOut): number | null {
  return paceOfJob(job).pages ?? job.rate;
}

/** Until what it has now is done, at its pace; null where that cannot be told. */
export function msToGo(job: JobOut): number | null {
  const { ended } = paceOfJob(job);
  if (job.etaSeconds === null) return null;
  if (ended === undefined) return job.etaSeconds * 1_000;
  const { queued, delayed, leased } = job.counts;
  return ended === 0 ? null : ((queued + delayed + leased) / ended) * 1_000;
}
