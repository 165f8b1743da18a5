/** Stores the unsubmitted job in this tab, so that it survives a visit to another page. */
import type { JobDraft } from "./job-draft.ts";
import { shapeProblem } from "./job-shape.ts";

/** `signOut` deletes all entries that start with this. */
const STORAGE_KEY = "trawl-draft";

/** `from` is the id of the job that the draft is a copy of. */
export function saveDraft(from: string | undefined, draft: JobDraft): void {
  try {
    sessionStorage.setItem(keyOf(from), JSON.stringify(draft));
  } catch {
    // The draft exceeds the quota of the browser, such as with 100,000 URLs. No draft is better than an outdated one.
    deleteDraft(from);
  }
}

export function findDraft(from: string | undefined): JobDraft | undefined {
  const text = sessionStorage.getItem(keyOf(from));
  if (text === null) return undefined;
  try {
    const draft = JSON.parse(text) as JobDraft;
    const isValid =
      shapeProblem(draft.job) === undefined && Array.isArray(draft.rows) && typeof draft.each === "string";
    return isValid ? draft : undefined;
  } catch {
    return undefined;
  }
}

export function deleteDraft(from: string | undefined): void {
  sessionStorage.removeItem(keyOf(from));
}

function keyOf(from: string | undefined): string {
  return from === undefined ? STORAGE_KEY : `${STORAGE_KEY} ${from}`;
}
