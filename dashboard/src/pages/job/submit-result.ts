import { signal } from "@preact/signals";
import type { Added } from "../../../../src/client/job.ts";

/** The response to the last submission in this tab. The API returns these details only once. */
export type SubmitResult = Added & { id: string; given: number; webhookSecret: string | null };

export const submitResult = signal<SubmitResult | undefined>(undefined);

export function setSubmitResult(result: SubmitResult): void {
  const { id, given, accepted, duplicates, refused, refusedCount, webhookSecret } = result;
  submitResult.value = { id, given, accepted, duplicates, refused, refusedCount, webhookSecret };
}
