/** Judges a crawl by the requests that its origin received. Pure; shares no code with src/. */

/** A request may be this much earlier than the interval of its site requires. */
export const TOLERANCE_MS = 1;
const ROBOTS = "/robots.txt";
const EXAMPLES = 3;

/**
 * `sites` are the addresses and `paths` the pages of each. `pages` counts each page of each site once. `seconds` is the
 * time from the first request to the last response, so it excludes the start of the crawler.
 */
export function judgeRequests(requests, { sites, paths }) {
  const wanted = new Set(paths);
  const own = new Set(sites);
  const counts = new Map();
  const others = new Map();
  for (const { site, path, status, method } of requests) {
    if (own.has(site) && wanted.has(path) && status === 200 && method === "GET") bump(counts, `${site}${path}`);
    else if (path !== ROBOTS) bump(others, `${method} ${path} ${status}`);
  }
  const repeated = [...counts].filter(([, count]) => count > 1).map(([page]) => page);
  const missed = sites.length * paths.length - counts.size;
  const [firstAt, lastAt] = spanOf(requests);
  const seconds = (lastAt - firstAt) / 1_000;
  return {
    pages: counts.size,
    missed,
    missedExamples: missed === 0 ? [] : findMissed(sites, paths, counts),
    repeated: repeated.length,
    repeatedExamples: repeated.slice(0, EXAMPLES),
    others: [...others].map(([request, times]) => `${request} x${times}`),
    seconds,
    pagesPerS: seconds > 0 ? counts.size / seconds : 0,
  };
}

/**
 * The shortest time in which a crawl may send these requests: every site gets one request per interval. All requests
 * count, also robots.txt.
 */
export function leastSeconds(requests, intervalMs) {
  const longest = Math.max(0, ...timesBySite(requests).map((times) => times.length - 1));
  return (longest * intervalMs) / 1_000;
}

/**
 * The share of its allowance that a site got: its requests, relative to one request per interval from its first to its
 * last request. Median and minimum over all sites. Undefined if no site got two requests.
 */
export function judgeShares(requests, intervalMs) {
  const shares = timesBySite(requests)
    .filter((times) => times.length > 1)
    .map((times) => ((times.length - 1) * intervalMs) / (times.at(-1) - times[0]))
    .sort((one, other) => one - other);
  return shares.length === 0 ? undefined : { median: shares[shares.length >> 1], worst: shares[0] };
}

/**
 * Gaps between consecutive requests of a site. A gap is short if it is more than `TOLERANCE_MS` shorter than the
 * interval. `resolutionMs` is the error of the clock: a gap that may be long enough is not short. Undefined if no gap
 * can be short, because the interval is not longer than the tolerance.
 */
export function judgeGaps(requests, { intervalMs, resolutionMs }) {
  const limitMs = intervalMs - TOLERANCE_MS - resolutionMs;
  if (limitMs <= 0) return undefined;
  const gaps = timesBySite(requests).flatMap((times) => times.slice(1).map((at, nth) => at - times[nth]));
  // Times are epoch ms with fractions: a double is exact to about 0.0002 ms.
  const short = gaps.filter((gap) => gap < limitMs - 0.001);
  return {
    gaps: gaps.length,
    short: short.length,
    shortestMs: gaps.reduce((least, gap) => Math.min(least, gap), Infinity),
  };
}

/**
 * Pages per second, relative to what the crawl can reach: the lower of the allowance and the speed of the same crawl
 * without a rate. Without the latter, the allowance alone.
 */
export function shareOf({ pagesPerS, allowancePerS, unlimitedPerS }) {
  return pagesPerS / Math.min(allowancePerS, unlimitedPerS ?? Infinity);
}

/** The start times of the requests of each site, ascending. */
function timesBySite(requests) {
  const bySite = new Map();
  for (const { site, startedAt } of requests) {
    const times = bySite.get(site);
    if (times === undefined) bySite.set(site, [startedAt]);
    else times.push(startedAt);
  }
  return [...bySite.values()].map((times) => times.sort((one, other) => one - other));
}

function spanOf(requests) {
  if (requests.length === 0) return [0, 0];
  return requests.reduce(
    ([first, last], { startedAt, endedAt }) => [Math.min(first, startedAt), Math.max(last, endedAt)],
    [Infinity, -Infinity],
  );
}

function findMissed(sites, paths, counts) {
  const missed = [];
  for (const site of sites) {
    for (const path of paths) {
      if (!counts.has(`${site}${path}`)) missed.push(`${site}${path}`);
      if (missed.length === EXAMPLES) return missed;
    }
  }
  return missed;
}

function bump(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
