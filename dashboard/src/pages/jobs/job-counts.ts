/** The counts of a job: their explanations and their sums. */
import type { JobOut } from "../../../../src/client/client.ts";

export type Count = keyof JobOut["counts"];

export const COUNT_TEXT: Readonly<Record<Count, string>> = {
  submitted: "URLs that were submitted with the job or added to it.",
  discovered: "Links that were found on pages of the job.",
  queued: "URLs that wait for their site and for a free worker.",
  delayed: "URLs that wait for a retry after a failed attempt.",
  leased: "URLs that a worker is processing.",
  done: "URLs that were fetched, parsed and stored. A redirect to a page that the job already has counts as done, but adds no page.",
  dead: "URLs that failed permanently. They are stored as dead letters and can be replayed.",
  cancelled: "URLs that were dropped because the job was cancelled or reached its time limit.",
  duplicate: "URLs that the job already had. Each URL is fetched once.",
  refused: "URLs that were not fetched because robots.txt disallows them or a limit was reached.",
};

/** URLs that are finished: done, failed or cancelled. */
export function settledOf({ counts }: Pick<JobOut, "counts">): number {
  return counts.done + counts.dead + counts.cancelled;
}

/** All URLs to fetch. Duplicates and refused URLs do not count. */
export function allOf({ counts }: Pick<JobOut, "counts">): number {
  return settledOf({ counts }) + counts.queued + counts.delayed + counts.leased;
}

export function hasEnded({ state }: Pick<JobOut, "state">): boolean {
  return state !== "running" && state !== "paused";
}
