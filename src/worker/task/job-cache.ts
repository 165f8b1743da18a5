/** Makes the plan of each job once, and caches the most recent plans. */
import type { JobSpec } from "../../domain/job-spec.ts";
import { isTrawlError, TrawlError } from "../../errors.ts";
import type { FrontierAdmin } from "../../frontier/frontier-admin.ts";
import type { JobPlan } from "./plan.ts";

export type JobCache = {
  /** Rejects with BAD_SPIDER or BAD_SELECTOR if the job cannot be loaded in this worker. */
  planOf(jobId: string): Promise<JobPlan>;
  /** Spiders whose last load failed. */
  unknownSpiders(): readonly string[];
};

type Deps = {
  frontier: Pick<FrontierAdmin, "findJob">;
  makePlan(spec: JobSpec): Promise<JobPlan>;
};

const MAX_PLANS = 1000;

export function createJobCache({ frontier, makePlan }: Deps): JobCache {
  const plans = new Map<string, Promise<JobPlan>>();
  const unknown = new Set<string>();

  async function make(jobId: string): Promise<JobPlan> {
    const job = await frontier.findJob(jobId);
    if (job !== undefined) return { ...(await makeAndTrack(job.spec)), submittedAt: job.createdAt };
    throw new TrawlError("NOT_FOUND", {
      op: "worker.planOf",
      message: `a task belongs to job ${jobId}, which is not in the broker`,
      detail: { jobId },
    });
  }

  async function makeAndTrack(spec: JobSpec): Promise<JobPlan> {
    if (spec.spider === undefined) return makePlan(spec);
    try {
      const plan = await makePlan(spec);
      unknown.delete(spec.spider);
      return plan;
    } catch (error) {
      if (isTrawlError(error, "BAD_SPIDER") && unknown.size < MAX_PLANS) unknown.add(spec.spider);
      throw error;
    }
  }

  return {
    unknownSpiders: () => [...unknown],
    planOf(jobId) {
      const known = plans.get(jobId);
      if (known !== undefined) return known;
      const plan = make(jobId);
      plan.catch(() => plans.delete(jobId)); // a failure is not cached: the next task tries again
      plans.set(jobId, plan);
      const [oldest] = plans.keys();
      if (plans.size > MAX_PLANS && oldest !== undefined) plans.delete(oldest);
      return plan;
    },
  };
}
