/** What the counts of a job mean, in words, and what is made of them. */
import type { JobOut } from "../../../../src/client/client.ts";

export type Count = keyof JobOut["counts"];

export const COUNT_WORDS: Readonly<Record<Count, string>> = {
  submitted: "URLs that were sent with the job, or added to it.",
  discovered: "Links that were found on its pages.",
  queued: "URLs that wait for their site to be ready and a worker to take them.",
  delayed: "URLs that wait to be tried again, after something went wrong.",
  leased: "URLs that a worker has now.",
  done: "URLs whose page was fetched, read and stored. One that leads on to a page which the job has already is done, and no page more.",
  dead: "URLs that were given up on, after all tries. They can be looked at and replayed.",
  cancelled: "URLs that were dropped when the job was cancelled or out of time.",
  duplicate: "URLs that the job had already: they are fetched once.",
  refused: "URLs that are never fetched: robots.txt says no, or a limit was reached.",
};

/** URLs that nothing more happens to. */
export function settledOf({ counts }: Pick<JobOut, "counts">): number {
  return counts.done + counts.dead + counts.cancelled;
}

/** Duplicates and refused URLs were never to be fetched. */
export function allOf({ counts }: Pick<JobOut, "counts">): number {
  return settledOf({ counts }) + counts.queued + counts.delayed + counts.leased;
}

export function hasEnded({ state }: Pick<JobOut, "state">): boolean {
  return state !== "running" && state !== "paused";
}
