/** Schema of an explanation: why something waits. */
import { z } from "zod";
import { STEPS } from "../../domain/task-url.ts";

export const explanationSchemaOut = z.strictObject({
  about: z.string(),
  reasons: z.array(z.string()),
  until: z.iso.datetime().nullable().describe("When the wait ends. null: now, or unknown."),
  tasks: z
    .array(
      z.strictObject({
        jobId: z.string(),
        state: z.enum(["queued", "delayed", "leased", "dead", "ended"]),
        step: z.enum(STEPS).nullable().describe("The step of the page. null: the fetch of the page itself."),
      }),
    )
    .describe("For a URL: the jobs that contain it."),
});
export type ExplanationOut = z.output<typeof explanationSchemaOut>;
