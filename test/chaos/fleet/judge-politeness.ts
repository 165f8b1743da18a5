/** Checks the log of every site against its limits, over every window and at every instant. Pure. */
import { concurrencyViolations, type Interval } from "../../site/politeness-checker.ts";
import { allowedExcessMs, loggedExcessMs, rateExcessMs } from "../lookout.ts";
import type { Visit } from "./fleet-log.ts";
import type { SitePlan, Temper } from "./sites.ts";

/** The worst values of all sites of one kind. */
export type Worst = {
  sites: number;
  visits: number;
  /** By how many ms the fullest window is too short: without delays of the logging process, and as logged. */
  excessMs: number;
  loggedExcessMs: number;
  mostAtOnce: number;
  /** The highest rate of a few consecutive requests: shows whether the limit was ever reached. */
  fastestPerSecond: number;
  /** The limits of the site that came closest to them. */
  perSecond: number;
  perSite: number;
};

export type Figures = { worst: Partial<Record<Temper, Worst>> };
export type Politeness = Figures & { problems: string[] };

/**
 * At a slow rate, a share of the interval would tolerate a whole second. One request may be late by as long as the system
 * suspends a process, and that does not depend on the interval.
 */
const LATE_MOST_MS = 50;
/** So few that a busy machine completes them without a pause. */
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
      mostAtOnce: Math.max(0, ...concurrencyViolations(intervals, 0).map(({ underWay }) => underWay)),
      fastestPerSecond: fastestOf(own),
    };
    problems.push(...problemsOf(plan, seen));
    worst[plan.temper] = worseOf(worst[plan.temper], { ...seen, ...plan, sites: 1, visits: own.length });
  }
  return { worst, problems };
}

export function mostExcessMs(perSecond: number): number {
  return Math.min(LATE_MOST_MS, allowedExcessMs(perSecond));
}

function problemsOf(
  { site, perSecond, perSite }: SitePlan,
  { excessMs, mostAtOnce }: Pick<Worst, "excessMs" | "mostAtOnce">,
): string[] {
  return [
    ...(excessMs <= mostExcessMs(perSecond)
      ? []
      : [`${site} got requests too fast: a window is ${excessMs.toFixed(1)} ms too short for ${perSecond}/s`]),
    ...(mostAtOnce <= perSite ? [] : [`${site} had ${mostAtOnce} requests at once; it allows ${perSite}`]),
  ];
}

function intervalOf({ arrivedAt, overFrom }: Visit): Interval {
  // The log may show the disconnect of a client before its request.
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
  const { sites, visits, excessMs, loggedExcessMs: logged, mostAtOnce, fastestPerSecond, perSecond, perSite } = other;
  return {
    sites: (one?.sites ?? 0) + sites,
    visits: (one?.visits ?? 0) + visits,
    excessMs: Math.max(one?.excessMs ?? 0, excessMs),
    loggedExcessMs: Math.max(one?.loggedExcessMs ?? 0, logged),
    mostAtOnce: Math.max(one?.mostAtOnce ?? 0, mostAtOnce),
    fastestPerSecond: Math.max(one?.fastestPerSecond ?? 0, fastestPerSecond),
    // Sites of one kind have the same limits; the number of pages may differ by one.
    perSecond: Math.max(one?.perSecond ?? 0, perSecond),
    perSite,
  };
}
