/** Pauses, resumes and cancels jobs. Used by the API and the command line. */
import { isCrawl } from "../domain/crawl-queue.ts";
import { hasEnded } from "../domain/job.ts";
import { TrawlError } from "../errors.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import { capacityOf, livingWorkers, stoppedCrawlText } from "../frontier/worker-facts.ts";

export type ControlAction = "pause" | "resume" | "cancel";

type ControlFrontier = Pick<FrontierAdmin, ControlAction | "listWorkers">;

/**
 * Throws JOB_ENDED. Throws CRAWL_STOPPED if the action is `resume` and the process of the crawl has ended: no worker
 * serves its queue, so its URLs would wait.
 */
export async function controlJob(frontier: ControlFrontier, job: JobView, action: ControlAction): Promise<JobView> {
  if (action === "resume" && isCrawl(job) && !hasEnded(job.state)) await requireProcess(frontier, job);
  return frontier[action](job.id);
}

async function requireProcess(frontier: ControlFrontier, { id, queue }: JobView): Promise<void> {
  const { serving } = capacityOf(queue, livingWorkers(await frontier.listWorkers()));
  if (serving > 0) return;
  throw new TrawlError("CRAWL_STOPPED", { op: "control.resume", message: stoppedCrawlText(id), detail: { jobId: id } });
}
