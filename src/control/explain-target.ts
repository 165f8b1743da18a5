/** Explains why a URL, a site or a job waits. Used by the API and the command line. */
import { crawlOfQueue, isCrawl } from "../domain/crawl-queue.ts";
import { formatDuration } from "../domain/duration.ts";
import { plural } from "../domain/format-number.ts";
import { futureInstant } from "../domain/future-instant.ts";
import { hasEnded } from "../domain/job.ts";
import type { JobSpec } from "../domain/job-spec.ts";
import { queueText, startText } from "../domain/queue-name.ts";
import { sessionKey } from "../domain/session-spec.ts";
import { siteOf } from "../domain/site.ts";
import { type Step, stepOf, urlsOfPage } from "../domain/task-url.ts";
import { TrawlError } from "../errors.ts";
import type { ExplainTarget, Explanation, FrontierAdmin, JobView, Visibility } from "../frontier/frontier-admin.ts";
import { capacityOf, livingWorkers, stoppedCrawlText } from "../frontier/worker-facts.ts";
import type { Clock } from "../runtime/clock.ts";
import { findLoginFailure } from "../session/log-in.ts";
import type { Store } from "../store/store.ts";
import { queuesOfJob } from "../submit/queues-of-job.ts";
import { canonicalEntryUrl } from "../submit/url-entry.ts";
import { countReplays, tasksOf } from "../trace/timeline.ts";
import type { Catalogue } from "./catalogue.ts";

type Task = Explanation["tasks"][number] & { step?: Step };
/** `until` is a future instant in whole ms. It is undefined if the wait is over or its end is unknown. */
export type Explained = Omit<Explanation, "tasks" | "queues"> & { tasks: readonly Task[] };

type Deps = {
  frontier: Pick<FrontierAdmin, "explain" | "findJob" | "findSite" | "listQueues" | "listWorkers"> &
    Parameters<typeof findLoginFailure>[0];
  catalogue: Pick<Catalogue, "find">;
  store: Pick<Store, "tracePages" | "traceAttempts">;
  clock: Clock;
};
/** Whether the caller may see a job; undefined: it may see all jobs. */
type MaySee = ((job: JobView) => boolean) | undefined;
/** `visibility`: whether the explanation includes values that all tenants share. */
export type ExplainCaller = { maySee: MaySee; visibility: Visibility };

/** Throws NOT_FOUND for a site that no job has used and whose name does not look like a host name. */
export async function explainTarget(deps: Deps, target: ExplainTarget, caller: ExplainCaller): Promise<Explained> {
  const { visibility } = caller;
  if ("site" in target) await refuseUnknown(deps, target.site);
  if ("jobId" in target && (await deps.catalogue.find(target.jobId))?.archived === true) {
    return archivedJob(target.jobId);
  }
  const found =
    "url" in target ? await explainPage(deps, target.url, caller) : await deps.frontier.explain(target, visibility);
  const job = "jobId" in target ? await deps.frontier.findJob(target.jobId) : undefined;
  const routing = job === undefined || hasEnded(job.state) ? [] : routingText(job);
  const queues = job === undefined ? found.queues : queuesInUse(job);
  const logins = job?.state === "running" ? await failedLogins(deps, job) : [];
  const workers = await workersText(deps, queues, visibility);
  const reasons = [...found.reasons, ...logins, ...routing, ...workers];
  return { ...found, reasons, until: futureInstant(found.until, deps.clock.now()) };
}

/** Matches `localhost`, a domain, or a host with a port. A mistyped job id does not match. */
const HOST = /^localhost$|[.:]/;

async function refuseUnknown({ frontier }: Deps, site: string): Promise<void> {
  // A host of an internal network may have a name without a dot. It is known if a job has used it.
  if (HOST.test(site) || (await frontier.findSite(site)) !== undefined) return;
  throw new TrawlError("NOT_FOUND", {
    op: "control.explain",
    message: `no job, site or URL is named ${JSON.stringify(site)}; list the jobs with: trawl jobs`,
    detail: { site },
  });
}

function archivedJob(jobId: string): Explained {
  const reasons = ["the job has ended and is archived; none of its tasks is waiting"];
  return { about: `job ${jobId}`, reasons, until: undefined, tasks: [] };
}

/** Explains a URL, including the later steps of its page (render, parse) if there are any. */
async function explainPage(
  deps: Deps,
  url: string,
  { maySee, visibility }: ExplainCaller,
): Promise<Explained & Pick<Explanation, "queues">> {
  const { frontier, store } = deps;
  const found = await ownPart(deps, await frontier.explain({ url }, visibility), maySee);
  const jobIds = [...new Set(found.tasks.map(({ jobId }) => jobId))];
  const histories = await Promise.all(
    jobIds.map(async (jobId) => {
      const [pages, attempts] = await Promise.all([
        store.tracePages({ jobId, url }),
        store.traceAttempts({ jobId, url }),
      ]);
      return { jobId, tasks: [...pages, ...attempts], replays: countReplays(tasksOf(pages, attempts)) };
    }),
  );
  const [, ...stepUrls] = urlsOfPage(
    url,
    histories.flatMap(({ tasks }) => tasks),
  );
  const explainedSteps = await Promise.all(
    stepUrls.map(async (stepUrl) => ({
      step: stepOf(stepUrl),
      ...(await ownPart(deps, await frontier.explain({ url: stepUrl }, visibility), maySee)),
    })),
  );
  const steps = explainedSteps.filter(({ tasks }) => tasks.length > 0);
  const isOpen = (jobId: string) =>
    [found, ...steps].some(({ tasks }) => tasks.some((task) => task.jobId === jobId && task.state !== "ended"));
  const replays = histories.filter((history) => history.replays > 0 && isOpen(history.jobId)).map(replayText);
  const stepReasons = steps.flatMap((one) => one.reasons.map((reason) => `${reason} (${one.step})`));
  const hasOnlySteps = found.tasks.length === 0 && steps.length > 0;
  return {
    ...found,
    reasons: [...(hasOnlySteps ? [] : found.reasons), ...stepReasons, ...replays],
    until: steps.at(-1)?.until ?? found.until,
    queues: [...new Set([found, ...steps].flatMap((one) => one.queues))],
    tasks: [
      ...found.tasks,
      ...steps.flatMap(({ step, tasks }) =>
        tasks.map((task) => ({ ...task, ...(step === undefined ? {} : { step }) })),
      ),
    ],
  };
}

function replayText({ jobId, replays }: { jobId: string; replays: number }): string {
  return `in job ${jobId}: the URL was replayed ${plural(replays, "time")}; attempts are counted from the last replay`;
}

/** Removes the jobs that the caller may not see. */
async function ownPart({ frontier }: Deps, all: Explanation, maySee: MaySee): Promise<Explanation> {
  if (maySee === undefined) return all;
  const jobs = await Promise.all(all.tasks.map(({ jobId }) => frontier.findJob(jobId)));
  const tasks = all.tasks.filter((_, nth) => jobs[nth] !== undefined && maySee(jobs[nth]));
  if (tasks.length === all.tasks.length) return all;
  if (tasks.length === 0) return { ...all, reasons: ["no job has seen this URL"], until: undefined, tasks, queues: [] };
  // Every reason begins with the job it belongs to.
  const reasons = all.reasons.filter((reason) => tasks.some(({ jobId }) => reason.startsWith(`in job ${jobId}: `)));
  // The explanation does not state which queue and time belong to which job, so both are left out.
  return { ...all, reasons, until: undefined, tasks, queues: [] };
}

/** Sessions and sites whose logins are checked. A job may have a thousand sessions. */
const MAX_SESSIONS = 10;

/** Why sessions of the job cannot log in. Sessions that have replaced others (`rotateAfter`) are not checked. */
async function failedLogins({ frontier }: Deps, { id, spec }: JobView): Promise<string[]> {
  const { sessions, urls, siteGrouping } = spec as JobSpec;
  if (sessions === undefined) return [];
  const starts = urls.slice(0, MAX_SESSIONS).flatMap((entry) => canonicalEntryUrl(entry) ?? []);
  const sites = [...new Set(starts.map((url) => siteOf(url, siteGrouping)))];
  const numbers = Array.from({ length: Math.min(sessions.count, MAX_SESSIONS) }, (_, number) => number);
  const places = sessions.per === "site" ? sites : [""];
  const keys = places.flatMap((site) => numbers.map((number) => sessionKey(sessions, id, site, number)));
  const failures = await Promise.all(keys.slice(0, MAX_SESSIONS).map((key) => findLoginFailure(frontier, key)));
  const found = failures.filter((failure) => failure !== undefined);
  const [first] = found;
  if (first === undefined) return [];
  const next = `Trawl tries again within ${formatDuration(first.retryAfterMs)}`;
  return [`${plural(found.length, "session")} cannot log in: ${first.detail}; ${next}`];
}

/**
 * The queues on which tasks of a job may wait for a worker. A crawl counts as waiting even if no task is queued: if its
 * process was killed, all its tasks may still be leased.
 */
function queuesInUse({ id, state, counts, queue, spec }: JobView): string[] {
  const isWaiting = counts.queued > 0 || isCrawl({ id, queue });
  return state === "running" && isWaiting ? queuesOfJob({ ...(spec as JobSpec), queue }) : [];
}

/**
 * Describes the workers that serve the queues. Every caller sees that a queue has no worker; only operators see the
 * numbers.
 */
async function workersText({ frontier }: Deps, queues: readonly string[], visibility: Visibility): Promise<string[]> {
  if (queues.length === 0) return [];
  const [workers, views] = await Promise.all([
    frontier.listWorkers(),
    visibility === "all" ? frontier.listQueues() : [],
  ]);
  const living = livingWorkers(workers);
  return queues.flatMap((queue) => {
    const { serving, free, concurrency } = capacityOf(queue, living);
    if (serving === 0) return [unservedText(queue)];
    if (visibility !== "all") return [];
    const who = `${plural(serving, "worker")} ${serving === 1 ? "serves" : "serve"} ${queueText(queue)}`;
    const waiting = views.find((view) => view.queue === queue)?.waiting ?? 0;
    const they = serving === 1 ? "it" : "they";
    const pending = `${plural(waiting, "task")} ${waiting === 1 ? "waits" : "wait"}`;
    return [`${who}: ${they} can run ${plural(free, "more task")} (limit ${concurrency}); ${pending}`];
  });
}

function unservedText(queue: string): string {
  const crawl = crawlOfQueue(queue);
  if (crawl !== undefined) return stoppedCrawlText(crawl);
  return `no worker serves ${queueText(queue)}; ${startText([queue])}`;
}

/** The queue and priority of the job's tasks. Both may have changed since submission. */
function routingText({ queue, priority, spec }: JobView): string[] {
  const { routes = [] } = spec as Partial<JobSpec>;
  const base = `its tasks use queue ${queue}, priority ${priority}`;
  if (routes.length === 0) return [base];
  const exceptions = routes.map(({ domain = [], url = [], queue: to, priority: at }) => {
    const which = [domain.join(" or "), url.join(" or ")].filter((part) => part !== "").join(" and ");
    return `  ${which}: queue ${to}, priority ${at}`;
  });
  return [`${base}, unless one of these routes matches the URL (the first match wins):`, ...exceptions];
}
