/** A job that is being written stays in this tab until it is submitted: who looks something up in between finds it again. */

import type { Draft } from "./draft.ts";
import { shapeProblem } from "./job-shape.ts";

/** `signOut` forgets what begins with this. */
const KEPT_AS = "trawl-draft";

/** `from`: the job that it began as a copy of. */
export function keepDraft(from: string | undefined, draft: Draft): void {
  try {
    sessionStorage.setItem(keyOf(from), JSON.stringify(draft));
  } catch {
    // Longer than the browser keeps, as a list of 100,000 URLs is: better none than an old one.
    dropDraft(from);
  }
}

export function findDraft(from: string | undefined): Draft | undefined {
  const text = sessionStorage.getItem(keyOf(from));
  if (text === null) return undefined;
  try {
    const draft = JSON.parse(text) as Draft;
    const isWhole =
      shapeProblem(draft.job) === undefined && Array.isArray(draft.rows) && typeof draft.each === "string";
    return isWhole ? draft : undefined;
  } catch {
    return undefined;
  }
}

export function dropDraft(from: string | undefined): void {
  sessionStorage.removeItem(keyOf(from));
}

function keyOf(from: string | undefined): string {
  return from === undefined ? KEPT_AS : `${KEPT_AS} ${from}`;
}
