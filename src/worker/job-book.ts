/** Makes the plan of each job a worker meets, once, and remembers the latest. */

import { isTrawlError, TrawlError } from "../errors.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import type { JobPlan } from "./plan.ts";

export type JobBook = {
  /** Rejects with BAD_SPIDER or BAD_SELECTOR where the job cannot be read here. */
  planOf(jobId: string): Promise<JobPlan>;
  /** Spiders that could not be loaded when last tried. */
  unknownSpiders(): readonly string[];
};

type Deps = {
  frontier: Pick<FrontierAdmin, "findJob">;
  makePlan(spec: JobSpec): Promise<JobPlan>;
};

const REMEMBERED = 1000;

export function createJobBook({ frontier, makePlan }: Deps): JobBook {
  const plans = new Map<string, Promise<JobPlan>>();
  const unknown = new Set<string>();

  async function make(jobId: string): Promise<JobPlan> {
    const job = await frontier.findJob(jobId);
    if (job !== undefined) return { ...(await noted(job.spec as JobSpec)), submittedAt: job.createdAt };
    throw new TrawlError("NOT_FOUND", {
      op: "worker.planOf",
      message: `a task belongs to job ${jobId}, which this broker does not have`,
      detail: { jobId },
    });
  }

  async function noted(spec: JobSpec): Promise<JobPlan> {
    if (spec.spider === undefined) return makePlan(spec);
    try {
      const plan = await makePlan(spec);
      unknown.delete(spec.spider);
      return plan;
    } catch (error) {
      if (isTrawlError(error, "BAD_SPIDER") && unknown.size < REMEMBERED) unknown.add(spec.spider);
      throw error;
    }
  }

  return {
    unknownSpiders: () => [...unknown],
    planOf(jobId) {
      const known = plans.get(jobId);
      if (known !== undefined) return known;
      const plan = make(jobId);
      plan.catch(() => plans.delete(jobId)); // a failure is not remembered: the next task tries again
      plans.set(jobId, plan);
      const [oldest] = plans.keys();
      if (plans.size > REMEMBERED && oldest !== undefined) plans.delete(oldest);
      return plan;
    },
  };
}
