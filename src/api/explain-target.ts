/** Why something waits: for the API and the command line alike. A page is told of with its steps, a job with its routes. */

import { ahead } from "../domain/ahead.ts";
import { formatCount, plural } from "../domain/counted.ts";
import { hasEnded } from "../domain/job.ts";
import { type Step, stepOf, urlsOfPage } from "../domain/step-url.ts";
import type { ExplainTarget, Explanation, Hearing, JobView } from "../frontier/frontier-admin.ts";
import { placesOn } from "../frontier/worker-facts.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import { queuesOfJob } from "../submit/queues-of-job.ts";
import { countReplays, tasksOf } from "../trace/story.ts";
import type { ApiDeps } from "./api-deps.ts";

type Task = Explanation["tasks"][number] & { step?: Step };
/** `until` is still to come, in whole milliseconds; undefined: now, or nobody knows. */
export type Explained = Omit<Explanation, "tasks" | "queues"> & { tasks: readonly Task[] };

type Deps = Pick<ApiDeps, "frontier" | "catalogue" | "store" | "clock">;
/** Whether whoever asks may hear of a job; undefined: of all. */
type MayHear = ((job: JobView) => boolean) | undefined;
export type Asker = { mayHear: MayHear; hearing: Hearing };

export async function explainTarget(deps: Deps, target: ExplainTarget, asker: Asker): Promise<Explained> {
  const { hearing } = asker;
  if ("jobId" in target && (await deps.catalogue.find(target.jobId))?.archived === true) return inArchive(target.jobId);
  const found =
    "url" in target ? await explainPage(deps, target.url, asker) : await deps.frontier.explain(target, hearing);
  const job = "jobId" in target ? await deps.frontier.findJob(target.jobId) : undefined;
  const ways = job === undefined || hasEnded(job.state) ? [] : routingWords(job);
  const queues = job === undefined ? found.queues : queuesInUse(job);
  const workers = await workerWords(deps, queues, hearing);
  const reasons = [...found.reasons, ...ways, ...workers];
  return { ...found, reasons, until: ahead(found.until, deps.clock.now()) };
}

function inArchive(jobId: string): Explained {
  const reasons = ["ended long ago and has left the broker: nothing of it waits"];
  return { about: `job ${jobId}`, reasons, until: undefined, tasks: [] };
}

/** The later steps are heard of only where there are any. */
async function explainPage(
  deps: Deps,
  url: string,
  { mayHear, hearing }: Asker,
): Promise<Explained & Pick<Explanation, "queues">> {
  const { frontier, store } = deps;
  const found = await ownPart(deps, await frontier.explain({ url }, hearing), mayHear);
  const jobIds = [...new Set(found.tasks.map(({ jobId }) => jobId))];
  const told = await Promise.all(
    jobIds.map(async (jobId) => {
      const [pages, tries] = await Promise.all([store.tracePages({ jobId, url }), store.traceTries({ jobId, url })]);
      return { jobId, known: [...pages, ...tries], replays: countReplays(tasksOf(pages, tries)) };
    }),
  );
  const [, ...urls] = urlsOfPage(
    url,
    told.flatMap(({ known }) => known),
  );
  const steps = await Promise.all(
    urls.map(async (one) => ({
      step: stepOf(one),
      ...(await ownPart(deps, await frontier.explain({ url: one }, hearing), mayHear)),
    })),
  );
  const known = steps.filter(({ tasks }) => tasks.length > 0);
  const isOpen = (jobId: string) =>
    [found, ...known].some(({ tasks }) => tasks.some((task) => task.jobId === jobId && task.state !== "ended"));
  const anew = told.filter(({ jobId, replays }) => replays > 0 && isOpen(jobId)).map(replayWords);
  const reasons = known.flatMap((one) => one.reasons.map((reason) => `${reason} (${one.step})`));
  const isUnseen = found.tasks.length === 0 && known.length > 0;
  return {
    ...found,
    reasons: [...(isUnseen ? [] : found.reasons), ...reasons, ...anew],
    until: known.at(-1)?.until ?? found.until,
    queues: [...new Set([found, ...known].flatMap((one) => one.queues))],
    tasks: [
      ...found.tasks,
      ...known.flatMap(({ step, tasks }) =>
        tasks.map((task) => ({ ...task, ...(step === undefined ? {} : { step }) })),
      ),
    ],
  };
}

function replayWords({ jobId, replays }: { jobId: string; replays: number }): string {
  return `in job ${jobId}: was replayed ${plural(replays, "time")}; its tries are counted since the last`;
}

/** Of jobs of others nothing is said. */
async function ownPart({ frontier }: Deps, all: Explanation, mayHear: MayHear): Promise<Explanation> {
  if (mayHear === undefined) return all;
  const jobs = await Promise.all(all.tasks.map(({ jobId }) => frontier.findJob(jobId)));
  const tasks = all.tasks.filter((_, nth) => jobs[nth] !== undefined && mayHear(jobs[nth]));
  if (tasks.length === all.tasks.length) return all;
  if (tasks.length === 0)
    return { ...all, reasons: ["no job here has seen this URL"], until: undefined, tasks, queues: [] };
  // Each reason begins with the job it is for.
  const reasons = all.reasons.filter((reason) => tasks.some(({ jobId }) => reason.startsWith(`in job ${jobId}: `)));
  // Whose a queue is cannot be told.
  return { ...all, reasons, until: undefined, tasks, queues: [] };
}

/** Queues on which tasks of a job may be waiting for a worker. */
function queuesInUse({ state, counts, queue, spec }: JobView): string[] {
  return state === "running" && counts.queued > 0 ? queuesOfJob({ ...(spec as JobSpec), queue }) : [];
}

/** Who serves the queues on which something waits. How many do is for operators; that nobody does is for everybody. */
async function workerWords({ frontier }: Deps, queues: readonly string[], hearing: Hearing): Promise<string[]> {
  if (queues.length === 0) return [];
  const [workers, views] = await Promise.all([frontier.listWorkers(), hearing === "all" ? frontier.listQueues() : []]);
  return queues.flatMap((queue) => {
    const { serving, free, places } = placesOn(queue, workers);
    if (serving === 0) return [`no worker serves queue ${queue}: start one with: trawl worker --queues ${queue}`];
    if (hearing !== "all") return [];
    const who = `${plural(serving, "worker")} ${serving === 1 ? "serves" : "serve"} queue ${queue}`;
    const waiting = views.find((view) => view.queue === queue)?.waiting ?? 0;
    return [`${who}: ${free} of ${places} places free, ${formatCount(waiting)} waiting on it`];
  });
}

/** Where the tasks of a job go. Its priority may have been changed since it was submitted. */
function routingWords({ queue, priority, spec }: JobView): string[] {
  const { routes = [] } = spec as Partial<JobSpec>;
  const own = `its tasks go to queue ${queue}, priority ${priority}`;
  if (routes.length === 0) return [own];
  const ways = routes.map(({ domain = [], url = [], queue: to, priority: at }) => {
    const which = [domain.join(" or "), url.join(" or ")].filter((words) => words !== "").join(" and ");
    return `  ${which}: queue ${to}, priority ${at}`;
  });
  return [`${own}, but by the first route that takes their URL:`, ...ways];
}
