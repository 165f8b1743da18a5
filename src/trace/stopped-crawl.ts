import { isCrawl } from "../domain/crawl-queue.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";
import { capacityOf, livingWorkers, stoppedCrawlText } from "../frontier/worker-facts.ts";

/** Says that no process runs a crawl, and how to continue it. Empty for other jobs, and for a paused or ended crawl. */
export async function stoppedCrawl(
  { listWorkers }: Pick<FrontierAdmin, "listWorkers">,
  { id, queue, state }: Pick<JobView, "id" | "queue" | "state">,
): Promise<string[]> {
  if (state !== "running" || !isCrawl({ id, queue })) return [];
  const { serving } = capacityOf(queue, livingWorkers(await listWorkers()));
  return serving === 0 ? [stoppedCrawlText(id)] : [];
}
