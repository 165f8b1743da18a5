import { signal } from "@preact/signals";
import type { Added } from "../../../../src/client/job.ts";

/** What the server has said of the job that was submitted here last, and says nowhere else. */
export type Submitted = Added & { id: string; given: number; webhookSecret: string | null };

export const submitted = signal<Submitted | undefined>(undefined);

export function noteSubmitted({
  id,
  given,
  accepted,
  duplicates,
  refused,
  refusedCount,
  webhookSecret,
}: Submitted): void {
  submitted.value = { id, given, accepted, duplicates, refused, refusedCount, webhookSecret };
}
