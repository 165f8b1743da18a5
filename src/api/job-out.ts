/** A job as the API answers and as `--json` prints it. Apart from the schemas: the command line needs none of them. */
import { formatRate } from "../domain/rate.ts";
import type { JobView } from "../frontier/frontier-admin.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import { queuesOfJob } from "../submit/queues-of-job.ts";
import type { JobOut } from "./wire-types.ts";

export function jobOut(job: JobView & { archived?: boolean }, now: number): JobOut {
  const { id, name, state, sealed, queue, priority, policy, limits, counts, tally, createdAt, finishedAt, spec } = job;
  const { pages = null, deadlineAt } = limits;
  const seconds = Math.max(0, (finishedAt ?? now) - createdAt) / 1000;
  return {
    id,
    requestId: (spec as Partial<JobSpec>).requestId ?? null, // jobs of older versions have none
    name,
    state,
    sealed,
    queue,
    queues: queuesOfJob({ ...(spec as JobSpec), queue }),
    priority,
    politeness: { rate: formatRate(policy.intervalMs), burst: policy.burst, perSite: policy.perSite },
    limits: { pages, seconds: deadlineAt === undefined ? null : rounded((deadlineAt - createdAt) / 1000) },
    counts: { ...counts },
    tally: { ...tally },
    rate: seconds > 0 ? rounded(tally.pages / seconds) : null,
    etaSeconds: etaOf(job, seconds),
    createdAt: new Date(createdAt).toISOString(),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    archived: job.archived === true,
  };
}

/** Links that are refused as they are found end at once: they tell nothing of how long the others take. */
function etaOf({ state, sealed, counts }: JobView, seconds: number): number | null {
  const left = counts.queued + counts.delayed + counts.leased;
  const ended = counts.done + counts.dead;
  if (state !== "running" || !sealed || left === 0 || ended === 0 || seconds === 0) return null;
  return Math.ceil((left * seconds) / ended);
}

function rounded(number: number): number {
  return Math.round(number * 1000) / 1000;
}
