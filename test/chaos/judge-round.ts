/** Judges a round from what lies outside of Trawl: the site's own log, and the output as a user finds it. Pure. */
import { createLinkedSite, DISALLOWED_PREFIX, type LinkedSiteOptions } from "../site/linked-site.ts";
import { duplicates, missing } from "../site/loss-checker.ts";
import type { Arrival } from "../site/origin.ts";
import { concurrencyViolations } from "../site/politeness-checker.ts";

export type Limits = { perSecond: number; perSite: number };

/** A request as serve-site.mjs notes it: it came after `seenFrom`, and not after `arrivedAt`. */
export type Sighting = Arrival & { seenFrom: number };

export type Evidence = {
  site: LinkedSiteOptions;
  siteUrl: string;
  limits: Limits;
  /** How many processes were killed. */
  kills: number;
  log: readonly Sighting[];
  /** `_url` of every record of the output. */
  records: readonly string[];
  /** What `--json` printed in the end. */
  summary: { state: string; pages: number; records: number; counts: Record<string, number> };
};

export type Verdict = {
  problems: string[];
  requests: number;
  repeated: number;
  /** By how much the fullest window is too short, in ms: as logged, and less what the site's own lateness explains. */
  loggedExcessMs: number;
  excessMs: number;
  mostAtOnce: number;
};

/**
 * What is allowed of `excessMs`: one request. Between the crawler's last look at the clock and the system call that
 * sends, the system may give the processor to others, and that one request then leaves close to the next. Nothing in a
 * process can prevent it; a second one it would not send, for by then that one's slot has passed.
 */
export const EXCESS_REQUESTS = 1.2;

export function judgeRound(evidence: Evidence): Verdict {
  const { log, limits } = evidence;
  const paths = log.map(({ path }) => path).filter((path) => path !== "/robots.txt");
  const repeated = paths.length - new Set(paths).size;
  const verdict = {
    requests: log.length,
    repeated,
    loggedExcessMs: worstExcessMs(log, limits.perSecond, ({ arrivedAt }) => arrivedAt),
    excessMs: worstExcessMs(log, limits.perSecond, ({ seenFrom }) => seenFrom),
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
  const allowedMs = (EXCESS_REQUESTS / perSecond) * 1000;
  const [tooMany] = concurrencyViolations(intervalsOf(log), perSite);
  return [
    ...(forbidden.length > 0 ? [`${forbidden.length} requests that robots.txt disallows`] : []),
    ...(excessMs <= allowedMs ? [] : [`too fast: a window is ${excessMs.toFixed(1)} ms too short for its requests`]),
    ...(tooMany === undefined ? [] : [`too many at once: ${JSON.stringify(tooMany)}`]),
  ];
}

/** A killed process had at most `perSite` requests under way: only those may be made again. */
function repetitionProblems({ log, kills, limits }: Evidence, paths: readonly string[], repeated: number): string[] {
  const robots = log.length - paths.length;
  const most = kills * limits.perSite;
  return [
    ...(repeated > most ? [`${repeated} requests were repeated; ${kills} kills allow ${most}`] : []),
    ...(robots > 1 + kills ? [`robots.txt was asked for ${robots} times`] : []),
  ];
}

/**
 * The rule, over every window from request i to request j: `j - i <= rate * (t[j] - t[i])`. What a window lacks in length
 * is its excess. With `lead(k) = k - rate * t[k]` the worst is the largest `lead(j) - lead(i)`, i before j; a window is
 * taken to begin as early as `from` its first request.
 */
function worstExcessMs(log: readonly Sighting[], perSecond: number, from: (sighting: Sighting) => number): number {
  const sorted = [...log].sort((one, other) => one.arrivedAt - other.arrivedAt);
  const start = sorted[0]?.arrivedAt ?? 0;
  const lead = (index: number, at: number) => index - (perSecond * (at - start)) / 1000;
  let least = Number.POSITIVE_INFINITY;
  let worst = 0;
  for (const [index, sighting] of sorted.entries()) {
    worst = Math.max(worst, lead(index, sighting.arrivedAt) - least);
    least = Math.min(least, lead(index, from(sighting)));
  }
  return (worst / perSecond) * 1000;
}

function mostAtOnce(log: readonly Arrival[]): number {
  const intervals = intervalsOf(log);
  const underWay = concurrencyViolations(intervals, 0).map((violation) => violation.underWay);
  return Math.max(0, ...underWay);
}

function intervalsOf(log: readonly Arrival[]): { from: number; to: number | undefined }[] {
  return log.map(({ arrivedAt, endedAt }) => ({ from: arrivedAt, to: endedAt }));
}
