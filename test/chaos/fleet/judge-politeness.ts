/** Judges every site's log against its own limits, over every window and at every instant. Pure. */
import { concurrencyViolations, type Interval } from "../../site/politeness-checker.ts";
import { allowedExcessMs, loggedExcessMs, rateExcessMs } from "../lookout.ts";
import type { Visit } from "./fleet-log.ts";
import type { SitePlan, Temper } from "./sites.ts";

/** The worst of all sites of one temper. */
export type Worst = {
  sites: number;
  visits: number;
  /** By how much the fullest window is too short, in ms: less what the server's own lateness explains, and as logged. */
  excessMs: number;
  loggedExcessMs: number;
  mostAtOnce: number;
  /** Over ten requests in a row: whether the limit was ever met. */
  fastestPerSecond: number;
  /** Of the site that came closest to its limits. */
  perSecond: number;
  perSite: number;
};

export type Figures = { worst: Partial<Record<Temper, Worst>> };
export type Politeness = Figures & { problems: string[] };

/**
 * At a slow rate, a share of the interval would forgive a whole second. One request may leave late by as long as the
 * system can keep a process from its processor, and that does not grow with the interval.
 */
const LATE_MOST_MS = 50;
const RUN = 10;

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
      : [`${site} was asked too fast: a window is ${excessMs.toFixed(1)} ms too short for ${perSecond}/s`]),
    ...(mostAtOnce <= perSite ? [] : [`${site} had ${mostAtOnce} requests at once; it allows ${perSite}`]),
  ];
}

function intervalOf({ arrivedAt, overFrom }: Visit): Interval {
  // A client that went away before the server looked up may seem to have gone before it came.
  return { from: arrivedAt, to: overFrom === undefined ? undefined : Math.max(arrivedAt, overFrom) };
}

function fastestOf(visits: readonly Visit[]): number {
  const times = visits.map(({ arrivedAt }) => arrivedAt).sort((one, other) => one - other);
  const spans = times.slice(RUN).map((at, index) => at - (times[index] ?? 0));
  return spans.length === 0 ? 0 : (RUN * 1000) / Math.min(...spans);
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
    // Sites of one temper have the same limits, but for a page more or less.
    perSecond: Math.max(one?.perSecond ?? 0, perSecond),
    perSite,
  };
}
