/** Checks the log of every site against its rate, in every window, and its concurrency, at every instant. Pure. */
import { concurrencyViolations, type Interval } from "../../site/politeness-checker.ts";
import { allowedExcessMs, loggedExcessMs, rateExcessMs } from "../rate-excess.ts";
import type { Visit } from "./fleet-log.ts";
import type { SiteKind, SitePlan } from "./sites.ts";

/** The worst values of all sites of one kind. */
export type Worst = {
  sites: number;
  visits: number;
  /** By how many ms the worst window is too short for its requests, after logging delays are subtracted. */
  excessMs: number;
  /** The same, computed from the logged times. */
  loggedExcessMs: number;
  maxAtOnce: number;
  /** The highest rate of a few consecutive requests, which shows whether the limit was reached. */
  fastestPerSecond: number;
  /** The highest rate limit of these sites, and their concurrency limit. */
  perSecond: number;
  perSite: number;
};

export type Figures = { worst: Partial<Record<SiteKind, Worst>> };
export type Politeness = Figures & { problems: string[] };

/**
 * The maximum time by which one request may be late: the system may suspend a process for this long. This limit does
 * not depend on the interval of the site: a share of the interval would tolerate a whole second at a slow rate.
 */
const LATE_MAX_MS = 50;
/** The number of requests in `fastestPerSecond`: so few that a busy machine completes them without a pause. */
const CONSECUTIVE = 3;

export function judgePoliteness(web: readonly SitePlan[], visits: readonly Visit[]): Politeness {
  const bySite = groupBySite(visits);
  const problems: string[] = [];
  const worst: Figures["worst"] = {};
  for (const plan of web) {
    const own = bySite.get(plan.site) ?? [];
    const intervals = own.map(intervalOf);
    const seen = {
      excessMs: rateExcessMs(own, plan.perSecond),
      loggedExcessMs: loggedExcessMs(own, plan.perSecond),
      maxAtOnce: Math.max(0, ...concurrencyViolations(intervals, 0).map(({ inFlight }) => inFlight)),
      fastestPerSecond: fastestOf(own),
    };
    problems.push(...problemsOf(plan, seen));
    worst[plan.kind] = worseOf(worst[plan.kind], { ...seen, ...plan, sites: 1, visits: own.length });
  }
  return { worst, problems };
}

export function maxExcessMs(perSecond: number): number {
  return Math.min(LATE_MAX_MS, allowedExcessMs(perSecond));
}

function problemsOf(
  { site, perSecond, perSite }: SitePlan,
  { excessMs, maxAtOnce }: Pick<Worst, "excessMs" | "maxAtOnce">,
): string[] {
  return [
    ...(excessMs <= maxExcessMs(perSecond)
      ? []
      : [`${site} got requests too fast: a window is ${excessMs.toFixed(1)} ms too short for ${perSecond}/s`]),
    ...(maxAtOnce <= perSite ? [] : [`${site} had ${maxAtOnce} requests at once; it allows ${perSite}`]),
  ];
}

function intervalOf({ arrivedAt, overFrom }: Visit): Interval {
  // The log may show that a client disconnected before its request arrived.
  return { from: arrivedAt, to: overFrom === undefined ? undefined : Math.max(arrivedAt, overFrom) };
}

function fastestOf(visits: readonly Visit[]): number {
  const times = visits.map(({ arrivedAt }) => arrivedAt).sort((one, other) => one - other);
  const spans = times.slice(CONSECUTIVE).map((at, index) => at - (times[index] ?? 0));
  return spans.length === 0 ? 0 : (CONSECUTIVE * 1000) / Math.min(...spans);
}

function groupBySite(visits: readonly Visit[]): Map<string, Visit[]> {
  const groups = new Map<string, Visit[]>();
  for (const visit of visits) {
    const group = groups.get(visit.site);
    if (group === undefined) groups.set(visit.site, [visit]);
    else group.push(visit);
  }
  return groups;
}

function worseOf(one: Worst | undefined, other: Worst): Worst {
  const { sites, visits, excessMs, loggedExcessMs: logged, maxAtOnce, fastestPerSecond, perSecond, perSite } = other;
  return {
    sites: (one?.sites ?? 0) + sites,
    visits: (one?.visits ?? 0) + visits,
    excessMs: Math.max(one?.excessMs ?? 0, excessMs),
    loggedExcessMs: Math.max(one?.loggedExcessMs ?? 0, logged),
    maxAtOnce: Math.max(one?.maxAtOnce ?? 0, maxAtOnce),
    fastestPerSecond: Math.max(one?.fastestPerSecond ?? 0, fastestPerSecond),
    // Sites of one kind have almost the same limits: their numbers of pages, and so their rates, may differ slightly.
    perSecond: Math.max(one?.perSecond ?? 0, perSecond),
    perSite,
  };
}
