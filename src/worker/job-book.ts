/** Makes the plan of each job a worker meets, once, and remembers the latest. */

import { TrawlError } from "../errors.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import type { JobPlan } from "./plan.ts";

export type JobBook = { planOf(jobId: string): Promise<JobPlan> };

type Deps = {
  frontier: Pick<FrontierAdmin, "findJob">;
  makePlan(spec: JobSpec): Promise<JobPlan>;
};

const REMEMBERED = 1000;

export function createJobBook({ frontier, makePlan }: Deps): JobBook {
  const plans = new Map<string, Promise<JobPlan>>();

  async function make(jobId: string): Promise<JobPlan> {
    const job = await frontier.findJob(jobId);
    if (job !== undefined) return makePlan(job.spec as JobSpec);
    throw new TrawlError("NOT_FOUND", {
      op: "worker.planOf",
      message: `a task belongs to job ${jobId}, which this broker does not have`,
      detail: { jobId },
    });
  }

  return {
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
