import { signal } from "@preact/signals";

/** Jobs that were deleted here: the stream of events says nothing of what is not there any more. */
export const deletedJobs = signal<ReadonlySet<string>>(new Set());

export function noteDeleted(id: string): void {
  deletedJobs.value = new Set([...deletedJobs.peek(), id]);
}
