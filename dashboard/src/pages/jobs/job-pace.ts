/** The pace of each running job, from counts that were sampled while the dashboard is open. Shared by all pages. */
import { effect } from "@preact/signals";
import type { JobOut } from "../../../../src/client/client.ts";
import { liveJobs } from "../../live.ts";
import { now } from "../../visible.ts";
import { addSample, type Pace, type PaceSample, paceOf } from "./pace.ts";

const samples = new Map<string, readonly PaceSample[]>();
const UNKNOWN_PACE: Pace = { values: [], pages: undefined, ended: undefined };

export function startPaces(): void {
  effect(() => {
    const jobs = liveJobs.value;
    if (now.value > 0) for (const job of jobs?.values() ?? []) recordSample(job);
    if (jobs === undefined) samples.clear();
  });
}

/**
 * Adds the current counts of a job to its samples. The event stream does not send all jobs, so the page of a job also
 * calls this.
 */
export function recordSample({ id, state, tally, counts }: JobOut): void {
  if (state !== "running") samples.delete(id);
  else {
    const sample = { at: Date.now(), pages: tally.pages, ended: counts.done + counts.dead };
    samples.set(id, addSample(samples.get(id) ?? [], sample));
  }
}

export function jobPaceOf({ id, state }: JobOut): Pace {
  return state === "running" ? paceOf(samples.get(id) ?? []) : UNKNOWN_PACE;
}

/** The recent pace. For a job that is not running or has too few samples: the average since it started. */
export function pagesPerSecond(job: JobOut): number | null {
  return jobPaceOf(job).pages ?? job.rate;
}

/** Estimated time until all known URLs are finished, at the current pace; null if unknown. */
export function msLeft(job: JobOut): number | null {
  const { ended } = jobPaceOf(job);
  if (job.etaSeconds === null) return null;
  if (ended === undefined) return job.etaSeconds * 1_000;
  const { queued, delayed, leased } = job.counts;
  return ended === 0 ? null : ((queued + delayed + leased) / ended) * 1_000;
}
