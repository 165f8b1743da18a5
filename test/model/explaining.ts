/** Facts about why something waits (F16), from the model's lists. */
import { readyAt } from "../../src/domain/politeness.ts";
import {
  explainJob,
  explainSite,
  explainUrl,
  type JobFacts,
  type SiteFacts,
  type TaskFacts,
} from "../../src/frontier/explain.ts";
import type { ExplainTarget, Explanation, Visibility } from "../../src/frontier/frontier-admin.ts";
import { needsRobots } from "./scheduling.ts";
import { jobsAt } from "./site-views.ts";
import {
  adaptiveView,
  getJob,
  inFlightOf,
  ledgerOf,
  type ModelJob,
  type ModelSite,
  type ModelTask,
  queueOf,
  type World,
  waitingAt,
} from "./world.ts";

export function explain(world: World, target: ExplainTarget, now: number, visibility?: Visibility): Explanation {
  if ("url" in target) {
    return explainUrl(
      target.url,
      tasksOfUrl(world, target.url).map((task) => taskFacts(world, task, now)),
      now,
      visibility,
    );
  }
  if ("site" in target) {
    const site = world.sites.find(({ name }) => name === target.site);
    return explainSite(target.site, site === undefined ? undefined : siteFacts(world, site, now), now);
  }
  const job = getJob(world, target.jobId, "frontier.explain");
  const sites = world.sites.filter((site) => world.lanes.some((lane) => lane.job === job && lane.site === site));
  const facts = sites.slice(0, 20).map((site) => siteFacts(world, site, now));
  return explainJob(jobFacts(world, job), facts, now, visibility);
}

/** The last task of a URL in each set of seen URLs, newest set first. */
function tasksOfUrl(world: World, url: string): ModelTask[] {
  return world.scopes
    .toReversed()
    .map((scope) => world.seen.findLast((seen) => seen.scope === scope && seen.url === url)?.task)
    .filter((task) => task !== undefined)
    .filter(({ job }) => world.jobs.includes(job))
    .slice(0, 20);
}

function taskFacts(world: World, task: ModelTask, now: number): TaskFacts {
  const job = jobFacts(world, task.job);
  const queue = queueOf(task);
  switch (task.state) {
    case "leased":
      return { state: "leased", worker: task.worker, leaseUntil: task.leaseUntil, job };
    case "queued":
      return { state: "queued", queue, job, site: siteFacts(world, task.site, now) };
    case "delayed": {
      const last = task.history.at(-1);
      const site = siteFacts(world, task.site, now);
      return { state: "delayed", queue, job, site, notBefore: task.notBefore ?? 0, failures: task.failures, last };
    }
    default: {
      if (task.letter === undefined) return { state: "ended", job };
      const attempts = task.history.length;
      return { state: "dead", reason: task.letter.reason, attempts, last: task.history.at(-1), job };
    }
  }
}

function jobFacts(world: World, job: ModelJob): JobFacts {
  const { id, queue, retries } = job.made;
  return { id, queue, state: job.state, sealed: job.sealed, counts: ledgerOf(world, job), retriesMax: retries.max };
}

function siteFacts(world: World, site: ModelSite, now: number): SiteFacts {
  return {
    site: site.name,
    policy: site.policy,
    inFlight: inFlightOf(world, site),
    rateReadyAt: readyAt(site.arrivalAt, site.policy),
    term: site.term,
    blockedUntil: site.blockedUntil,
    backoffCause: site.backoffCause,
    incidents: site.incidents,
    crawlDelayMs: site.crawlDelayMs,
    ...adaptiveView(site, now),
    isFetchingRobots: site.robotsFetcher !== undefined && needsRobots(world, site, now),
    waiting: waitingAt(world, site),
    operator: site.operator,
    jobs: jobsAt(world, site),
  };
}
