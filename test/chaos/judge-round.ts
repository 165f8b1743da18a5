/** Judges a round by the log of the site and the output of the crawl. Pure; shares no code with src/. */
import { createLinkedSite, DISALLOWED_PREFIX, type LinkedSiteOptions } from "../site/linked-site.ts";
import { duplicates, missing } from "../site/loss-checker.ts";
import type { Arrival } from "../site/origin.ts";
import { concurrencyViolations } from "../site/politeness-checker.ts";
import { allowedExcessMs, loggedExcessMs, rateExcessMs, type Sighting } from "./lookout.ts";

export type Limits = { perSecond: number; perSite: number };

/** A line of the log of serve-site.mjs. */
export type LoggedRequest = Arrival & Sighting;

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
  /** By how many ms the fullest window is too short: as logged, and without delays of the logging process. */
  loggedExcessMs: number;
  excessMs: number;
  mostAtOnce: number;
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
    mostAtOnce: mostAtOnce(log),
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
  const unasked = missing(records, expected);
  const twice = duplicates(records);
  return [
    ...(lost.length > 0 ? [`${lost.length} pages are not in the output, such as ${lost[0]}`] : []),
    ...(unasked.length > 0 ? [`${unasked.length} records nobody asked for, such as ${unasked[0]}`] : []),
    ...(twice.size > 0
      ? [`${twice.size} pages are in the output more than once, such as ${[...twice.keys()][0]}`]
      : []),
  ];
}

function ledgerProblems({ site, summary: { state, pages, records, counts } }: Evidence): string[] {
  const { submitted = 0, discovered = 0, ...rest } = counts;
  const out = Object.values(rest).reduce((sum, count) => sum + count, 0);
  const { done, dead, queued, delayed, leased, cancelled } = rest;
  const ended = { state, pages, records, done, dead, queued, delayed, leased, cancelled };
  const right = {
    state: "finished",
    pages: site.pages,
    records: site.pages,
    done: site.pages,
    ...{ dead: 0, queued: 0, delayed: 0, leased: 0, cancelled: 0 },
  };
  return [
    ...(JSON.stringify(ended) === JSON.stringify(right) ? [] : [`the ledger says ${JSON.stringify(ended)}`]),
    ...(submitted + discovered === out ? [] : [`the ledger does not balance: ${JSON.stringify(counts)}`]),
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

/** A killed process had at most `perSite` requests under way: only those may be repeated. */
function repetitionProblems({ log, kills, limits }: Evidence, paths: readonly string[], repeated: number): string[] {
  const robots = log.length - paths.length;
  const most = kills * limits.perSite;
  return [
    ...(repeated > most ? [`${repeated} requests were repeated; ${kills} kills allow ${most}`] : []),
    ...(robots > 1 + kills ? [`robots.txt was asked for ${robots} times`] : []),
  ];
}

function mostAtOnce(log: readonly Arrival[]): number {
  const intervals = intervalsOf(log);
  const underWay = concurrencyViolations(intervals, 0).map((violation) => violation.underWay);
  return Math.max(0, ...underWay);
}

function intervalsOf(log: readonly Arrival[]): { from: number; to: number | undefined }[] {
  return log.map(({ arrivedAt, endedAt }) => ({ from: arrivedAt, to: endedAt }));
}
