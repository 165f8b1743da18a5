import { signal } from "@preact/signals";

/** Jobs deleted in this tab. The event stream does not report deletions of jobs it no longer sends. */
export const deletedJobs = signal<ReadonlySet<string>>(new Set());

export function markDeleted(id: string): void {
  deletedJobs.value = new Set([...deletedJobs.peek(), id]);
}
