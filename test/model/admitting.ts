/** Admits URLs to the model: exact dedup, the page limit and the cap (F9, F10, F13). */
import type { NewTask, RefuseReason } from "../../src/domain/task.ts";
import { TrawlError } from "../../src/errors.ts";
import type { EnqueueAnswer } from "../../src/frontier/frontier.ts";
import { getJob, type ModelJob, pendingOf, scopeOf, siteNamed, type World } from "./world.ts";

export type Source = "submitted" | "discovered";

export function enqueue(
  world: World,
  jobId: string,
  tasks: readonly NewTask[],
  { now, maxPending }: { now: number; maxPending: number },
): EnqueueAnswer {
  const job = getJob(world, jobId, "frontier.enqueue");
  if (job.stopped || job.sealed) {
    throw new TrawlError("JOB_ENDED", { op: "frontier.enqueue", message: `job ${jobId} accepts no more URLs` });
  }
  const free = Math.max(0, maxPending - pendingOf(world));
  const answer = admit(world, job, tasks.slice(0, free), "submitted", now);
  return free < tasks.length ? { ...answer, full: { taken: free, retryAfterMs: 1000 } } : answer;
}

export function admit(
  world: World,
  job: ModelJob,
  tasks: readonly NewTask[],
  as: Source,
  now: number,
): { queued: number; duplicates: number; refused: { index: number; reason: RefuseReason }[] } {
  const answer = { queued: 0, duplicates: 0, refused: [] as { index: number; reason: RefuseReason }[] };
  tasks.forEach((task, index) => {
    job.offers[as] += 1;
    const verdict = judge(world, job, task, now);
    if (verdict === "queued") {
      add(world, job, task, now);
      answer.queued += 1;
    } else if (verdict === "duplicate") {
      job.offers.duplicate += 1;
      answer.duplicates += 1;
    } else {
      job.offers.refused += 1;
      answer.refused.push({ index, reason: verdict });
    }
  });
  return answer;
}

function judge(world: World, job: ModelJob, task: NewTask, now: number): "queued" | "duplicate" | RefuseReason {
  if (job.stopped || job.finishedAt !== undefined) return "job_ended";
  const scope = scopeOf(job);
  if (world.seen.some((seen) => seen.scope === scope && seen.url === task.url && seen.until > now)) return "duplicate";
  const isOverLimit = job.pageLimit !== undefined && pagesOf(world, job) >= job.pageLimit;
  return isOverLimit && !continuesPage(task) ? "page_limit" : "queued";
}

/** Whether the task is the target of a redirect. It belongs to the same page and does not count as another page. */
function continuesPage({ redirects }: NewTask): boolean {
  return redirects !== undefined && redirects > 0;
}

function pagesOf(world: World, job: ModelJob): number {
  return world.tasks.filter((task) => task.job === job && !continuesPage(task.made)).length;
}

function add(world: World, job: ModelJob, made: NewTask, now: number): void {
  const site = siteNamed(world, made.site);
  const { queue, priority } = made;
  const task = {
    id: world.tasks.length + 1,
    job,
    site,
    made: structuredClone(made),
    state: "queued" as const,
    failures: 0,
    crashes: 0,
    isAhead: false,
    token: 0,
    notBefore: undefined,
    worker: "",
    leaseUntil: 0,
    history: [],
    letter: undefined,
  };
  world.tasks.push(task);
  const { dedup } = job.made;
  const until = "expireAfterMs" in dedup ? now + dedup.expireAfterMs : Number.POSITIVE_INFINITY;
  world.seen.push({ scope: scopeOf(job), url: made.url, task, until });
  addLane(world, job, site.name, queue, priority);
}

/**
 * Creates the lane if it does not exist. Empty lanes are removed after each operation, so a lane that is created again
 * counts as never served.
 */
export function addLane(world: World, job: ModelJob, siteName: string, queue: string, priority: number): void {
  const site = siteNamed(world, siteName);
  const exists = world.lanes.some(
    (lane) => lane.job === job && lane.site === site && lane.queue === queue && lane.priority === priority,
  );
  if (!exists) world.lanes.push({ job, site, queue, priority, served: 0 });
}
