/** What may be changed of a job that has begun, and changing it: the same over HTTP and on the command line. */
import { z } from "zod";
import { parseRate } from "../domain/rate.ts";
import type { FrontierAdmin, JobView, LimitChange } from "../frontier/frontier-admin.ts";
import { rate } from "../submit/job-schema.ts";

const WHAT = "rate, burst, perSite, priority, limits.pages, limits.seconds";

/** Workers read the rest of a job once, when they meet it: changed later, it would hold for some of its pages only. */
const strictly = {
  error: (issue: { code: string }) =>
    issue.code === "unrecognized_keys"
      ? `of a job that has begun can be changed: ${WHAT}; for the rest submit another`
      : undefined,
} as const;

export const jobChangeSchema = z
  .strictObject(
    {
      rate,
      burst: z.int().min(1).max(1000),
      perSite: z.int().min(1).max(1000),
      priority: z.int().min(0).max(9),
      limits: z
        .strictObject(
          {
            pages: z.int().min(1).nullable().describe("null: no limit. What is queued stays, however low."),
            seconds: z.number().positive().nullable().describe("Since it was submitted. null: no limit."),
          },
          strictly,
        )
        .partial(),
    },
    strictly,
  )
  .partial();

export type JobChange = z.output<typeof jobChangeSchema>;

type Changing = Pick<FrontierAdmin, "setPolicy" | "setPriority" | "setLimits">;

/** Limits first: they may be refused, and then nothing is changed. Throws JOB_ENDED, LIMIT_FIXED. */
export async function changeJob(frontier: Changing, job: JobView, change: JobChange): Promise<void> {
  const { rate: pace, burst, perSite, priority, limits } = change;
  if (limits !== undefined) await frontier.setLimits(job.id, limitsOf(job, limits));
  if (pace !== undefined || burst !== undefined || perSite !== undefined) {
    await frontier.setPolicy(job.id, {
      intervalMs: (pace === undefined ? undefined : parseRate(pace)) ?? job.policy.intervalMs,
      burst: burst ?? job.policy.burst,
      perSite: perSite ?? job.policy.perSite,
    });
  }
  if (priority !== undefined) await frontier.setPriority(job.id, priority);
}

function limitsOf({ createdAt }: JobView, { pages, seconds }: NonNullable<JobChange["limits"]>): LimitChange {
  return {
    ...(pages === undefined ? {} : { pages }),
    ...(seconds === undefined ? {} : { deadlineAt: seconds === null ? null : createdAt + seconds * 1000 }),
  };
}
