/**
 * Judges a round by the log of the site and the output of the crawl. The judge is pure and shares no code with src/.
 */
import { createLinkedSite, DISALLOWED_PREFIX, type LinkedSiteOptions } from "../site/linked-site.ts";
import { duplicates, missing } from "../site/loss-checker.ts";
import type { Arrival } from "../site/origin.ts";
import { concurrencyViolations } from "../site/politeness-checker.ts";
import { allowedExcessMs, loggedExcessMs, rateExcessMs, type TimedArrival } from "./rate-excess.ts";

export type Limits = { perSecond: number; perSite: number };

/** A line of the log of serve-site.mjs. */
export type LoggedRequest = Arrival & TimedArrival;

export type Evidence = {
  site: LinkedSiteOptions;
  siteUrl: string;
  limits: Limits;
  /** How many processes were killed. */
  kills: number;
  log: readonly LoggedRequest[];
  /** `_url` of every record of the output. */
  records: readonly string[];
  /** The object that `--json` printed at the end. */
  summary: { state: string; pages: number; records: number; counts: Record<string, number> };
};

export type Verdict = {
  problems: string[];
  requests: number;
  repeated: number;
  /** By how many ms the worst window is too short for its requests, computed from the logged times. */
  loggedExcessMs: number;
  /** The same, after logging delays are subtracted. */
  excessMs: number;
  maxAtOnce: number;
};

export function judgeRound(evidence: Evidence): Verdict {
  const { log, limits } = evidence;
  const paths = log.map(({ path }) => path).filter((path) => path !== "/robots.txt");
  const repeated = paths.length - new Set(paths).size;
  const verdict = {
    requests: log.length,
    repeated,
    loggedExcessMs: loggedExcessMs(log, limits.perSecond),
    excessMs: rateExcessMs(log, limits.perSecond),
    maxAtOnce: maxAtOnce(log),
  };
  const problems = [
    ...lossProblems(evidence),
    ...ledgerProblems(evidence),
    ...politenessProblems(evidence, verdict.excessMs),
    ...repetitionProblems(evidence, paths, repeated),
  ];
  return { problems, ...verdict };
}

function lossProblems({ site, siteUrl, records }: Evidence): string[] {
  const expected = createLinkedSite(site)
    .expectedPaths()
    .map((path) => siteUrl + path);
  const lost = missing(expected, records);
  const unexpected = missing(records, expected);
  const twice = duplicates(records);
  return [
    ...(lost.length > 0 ? [`${lost.length} pages are not in the output, such as ${lost[0]}`] : []),
    ...(unexpected.length > 0 ? [`${unexpected.length} records of unknown pages, such as ${unexpected[0]}`] : []),
    ...(twice.size > 0
      ? [`${twice.size} pages are in the output more than once, such as ${[...twice.keys()][0]}`]
      : []),
  ];
}

function ledgerProblems({ site, summary: { state, pages, records, counts } }: Evidence): string[] {
  const { submitted = 0, discovered = 0, ...rest } = counts;
  const accounted = Object.values(rest).reduce((sum, count) => sum + count, 0);
  const { done, dead, queued, delayed, leased, cancelled } = rest;
  const ended = { state, pages, records, done, dead, queued, delayed, leased, cancelled };
  const expected = {
    state: "finished",
    pages: site.pages,
    records: site.pages,
    done: site.pages,
    ...{ dead: 0, queued: 0, delayed: 0, leased: 0, cancelled: 0 },
  };
  return [
    ...(JSON.stringify(ended) === JSON.stringify(expected) ? [] : [`the ledger says ${JSON.stringify(ended)}`]),
    ...(submitted + discovered === accounted ? [] : [`the ledger does not balance: ${JSON.stringify(counts)}`]),
  ];
}

function politenessProblems({ log, limits }: Evidence, excessMs: number): string[] {
  const { perSecond, perSite } = limits;
  const forbidden = log.filter(({ path }) => path.startsWith(DISALLOWED_PREFIX));
  const [tooMany] = concurrencyViolations(intervalsOf(log), perSite);
  return [
    ...(forbidden.length > 0 ? [`${forbidden.length} requests that robots.txt disallows`] : []),
    ...(excessMs <= allowedExcessMs(perSecond)
      ? []
      : [`too fast: a window is ${excessMs.toFixed(1)} ms too short for its requests`]),
    ...(tooMany === undefined ? [] : [`too many at once: ${JSON.stringify(tooMany)}`]),
  ];
}

/** Only requests that were under way when a process was killed may be repeated: at most `perSite` for each kill. */
function repetitionProblems({ log, kills, limits }: Evidence, paths: readonly string[], repeated: number): string[] {
  const robots = log.length - paths.length;
  const max = kills * limits.perSite;
  return [
    ...(repeated > max ? [`${repeated} requests were repeated; ${kills} kills allow ${max}`] : []),
    ...(robots > 1 + kills ? [`robots.txt was requested ${robots} times`] : []),
  ];
}

function maxAtOnce(log: readonly Arrival[]): number {
  const intervals = intervalsOf(log);
  const inFlight = concurrencyViolations(intervals, 0).map((violation) => violation.inFlight);
  return Math.max(0, ...inFlight);
}

function intervalsOf(log: readonly Arrival[]): { from: number; to: number | undefined }[] {
  return log.map(({ arrivedAt, endedAt }) => ({ from: arrivedAt, to: endedAt }));
}
