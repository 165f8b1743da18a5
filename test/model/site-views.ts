/** Views of sites, computed from the model's lists. */
import { readyAt } from "../../src/domain/politeness.ts";
import type { SiteDetail, SiteJobView, SiteView } from "../../src/frontier/frontier-admin.ts";
import { needsRobots, policyFor } from "./scheduling.ts";
import { adaptiveView, inFlightOf, isWaiting, type ModelJob, type ModelSite, type World, waitingAt } from "./world.ts";

function siteViewOf(world: World, site: ModelSite, now: number): SiteView {
  const { name, policy, arrivalAt, blockedUntil, backoffCause, crawlDelayMs } = site;
  return {
    site: name,
    policy,
    inFlight: inFlightOf(world, site),
    waiting: waitingAt(world, site),
    readyAt: Math.max(readyAt(arrivalAt, policy), blockedUntil),
    blockedUntil,
    backoffCause,
    crawlDelayMs,
    ...adaptiveView(site, now),
  };
}

export function sitesByName(world: World, part: string, now: number): SiteView[] {
  return world.sites
    .filter(({ name }) => name.includes(part))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((site) => siteViewOf(world, site, now));
}

export function findSiteDetail(world: World, name: string, now: number): SiteDetail | undefined {
  const site = world.sites.find((one) => one.name === name);
  if (site === undefined) return undefined;
  const { operator, incidents } = site;
  const isFetchingRobots = site.robotsFetcher !== undefined && needsRobots(world, site, now);
  return {
    ...siteViewOf(world, site, now),
    ...{ operator, incidents, isFetchingRobots },
    jobs: jobsAt(world, site),
  };
}

/** The jobs with tasks at the site, most waiting tasks first. */
export function jobsAt(world: World, site: ModelSite): SiteJobView[] {
  return world.jobs
    .map((job) => siteJobOf(world, job, site))
    .filter(({ waiting, inFlight }) => waiting + inFlight > 0)
    .sort(
      (one, other) =>
        other.waiting - one.waiting || other.inFlight - one.inFlight || (one.jobId < other.jobId ? -1 : 1),
    );
}

function siteJobOf(world: World, job: ModelJob, site: ModelSite): SiteJobView {
  const own = world.tasks.filter((task) => task.job === job && task.site === site);
  return {
    jobId: job.made.id,
    name: job.made.name,
    state: job.state,
    waiting: own.filter(isWaiting).length,
    inFlight: own.filter(({ state }) => state === "leased").length,
    policy: policyFor(job, site),
  };
}
