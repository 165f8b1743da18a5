/** The settings of a started job that can be changed, and the change itself. Used by the API and the command line. */
import { z } from "zod";
import { hasEnded } from "../domain/job.ts";
import { parseRate } from "../domain/rate.ts";
import { TrawlError } from "../errors.ts";
import type { FrontierAdmin, JobView, LimitChange } from "../frontier/frontier-admin.ts";
import { endedAdvice } from "../frontier/job-errors.ts";
import { rate } from "../submit/job-schema.ts";

const CHANGEABLE = "rate, burst, perSite, priority, limits.pages, limits.seconds";

/** Workers read the other settings once per job, so a later change would apply to only some pages. */
const refuseOthers = {
  error: (issue: { code: string }) =>
    issue.code === "unrecognized_keys"
      ? `only ${CHANGEABLE} of a started job can be changed; for other settings, submit a new job`
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
            pages: z.int().min(1).nullable().describe("null: no limit. URLs that are already queued stay queued."),
            seconds: z.number().positive().nullable().describe("Seconds since submission. null: no limit."),
          },
          refuseOthers,
        )
        .partial(),
    },
    refuseOthers,
  )
  .partial();

export type JobChange = z.output<typeof jobChangeSchema>;

type ChangeableFrontier = Pick<FrontierAdmin, "setPolicy" | "setPriority" | "setLimits">;

/**
 * Changes a running or paused job. Sets the limits first: if the frontier refuses them, nothing has changed. Throws
 * JOB_ENDED or LIMIT_FIXED.
 */
export async function changeJob(frontier: ChangeableFrontier, job: JobView, change: JobChange): Promise<void> {
  const { rate, burst, perSite, priority, limits } = change;
  if (hasEnded(job.state)) throw jobOver(job);
  if (limits !== undefined) await frontier.setLimits(job.id, limitsOf(job, limits));
  if (rate !== undefined || burst !== undefined || perSite !== undefined) {
    await frontier.setPolicy(job.id, {
      intervalMs: (rate === undefined ? undefined : parseRate(rate)) ?? job.policy.intervalMs,
      burst: burst ?? job.policy.burst,
      perSite: perSite ?? job.policy.perSite,
    });
  }
  if (priority !== undefined) await frontier.setPriority(job.id, priority);
}

function jobOver({ id, state }: JobView): TrawlError {
  return new TrawlError("JOB_ENDED", {
    op: "control.changeJob",
    message: `job ${id} is ${state}, so a change has no effect; ${endedAdvice(state)}, and then change it`,
    detail: { jobId: id, state },
  });
}

function limitsOf({ createdAt }: JobView, { pages, seconds }: NonNullable<JobChange["limits"]>): LimitChange {
  return {
    ...(pages === undefined ? {} : { pages }),
    ...(seconds === undefined ? {} : { deadlineAt: seconds === null ? null : createdAt + seconds * 1000 }),
  };
}
