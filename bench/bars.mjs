/** The limits that Trawl must meet, and verdicts from summaries. Pure. */

/** CPU per page is judged only with this many pages: with fewer, the start of the process has too large a share. */
export const FULL_PAGES = 20_000;
export const BARS = {
  maxCpuTimesFloor: 1.2,
  maxRedisTimesEmbedded: 1.2,
  minCrawleeTimesTrawl: 10,
  maxCpuTimesUnlimited: 1.25,
  peakRssMbUnder: 250,
  maxListTimesBare: 5,
  maxOneHostTimesBare: 2,
  maxNewHostsTimesBare: 3,
  maxBusyTimesIdle: 5,
  minStreamPerS: 60_000,
  maxGrowthMb: 100,
  maxPendingBytes: 120,
  maxSeenBytes: 16,
};

/**
 * Crawls with a rate. `unlimited`: the same crawl without a rate. `median` and `worst`: the minimum share of its
 * allowance that a site must get. If even the crawl without a rate is slower than the allowance, its speed replaces the
 * allowance. `cpuSPer1k`: the maximum CPU seconds per 1,000 pages. It is used where the crawl without a rate is too
 * short for a comparison of CPU time.
 */
const POLITE = {
  "many-4": { unlimited: "many", median: 0.95, worst: 0.9 },
  "many-10": { unlimited: "many", median: 0.9, worst: 0.8 },
  "few-4": { unlimited: "few", median: 0.98, worst: 0.98, cpuSPer1k: 1 },
  "one-300": { unlimited: "one", median: 0.95, worst: 0.95 },
  "one-1000": { unlimited: "one", median: 0.85, worst: 0.85 },
};

/** One verdict per limit that these summaries can decide. `pages` and `scale` are the sizes of the run. */
export function judge(summary, { pages, scale }) {
  const figuresOf = (group, contestant) =>
    summary.find((entry) => entry.group === group && entry.contestant === contestant)?.figures;
  return [
    ...judgeGaps(summary),
    ...["trawl", "trawl-redis"].flatMap((contestant) => judgePolite(contestant, figuresOf)),
    ...(pages !== undefined && pages >= FULL_PAGES ? judgeOne((name) => figuresOf("one", name)) : []),
    ...(scale >= 1 ? judgeSubmit(figuresOf("submit", "trawl"), figuresOf("submit", "bare")) : []),
    ...(scale >= 1 ? judgeMemory(figuresOf("memory", "redis")) : []),
  ];
}

/** Judges only gaps between captured packets: the clock of the access log is not exact enough. */
function judgeGaps(summary) {
  return summary
    .filter(({ contestant, gapsBy }) => contestant.startsWith("trawl") && gapsBy === "packets")
    .map(({ group, contestant, figures }) => {
      const { max } = figures.shortGaps;
      const result = `${max} of ${figures.gaps.max}, the shortest gap ${figures.shortestGapMs.min.toFixed(2)} ms`;
      return verdictOf(`${group}, ${contestant}: no gap shorter than the interval minus 1 ms`, max === 0, result);
    });
}

function judgePolite(contestant, figuresOf) {
  return Object.entries(POLITE).flatMap(([group, bar]) => {
    const [polite, free] = [figuresOf(group, contestant), figuresOf(bar.unlimited, contestant)];
    if (polite?.siteShareMedian === undefined || free === undefined) return [];
    const reachable = Math.min(1, free.pagesPerS.median / polite.allowancePerS.median);
    const median = polite.siteShareMedian.median / reachable;
    const worst = polite.siteShareWorst.min / reachable;
    return [
      verdictOf(
        `${group}, ${contestant}: a site reaches ${bar.median} (median) and ${bar.worst} (worst)`,
        median >= bar.median && worst >= bar.worst,
        `${median.toFixed(3)} and ${worst.toFixed(3)}`,
      ),
      judgePoliteCpu({ name: `${group}, ${contestant}`, polite, free, bar }),
    ];
  });
}

function judgePoliteCpu({ name, polite, free, bar }) {
  const cpu = cpuWithRedis(polite);
  if (bar.cpuSPer1k !== undefined) {
    return verdictOf(`${name}: at most ${bar.cpuSPer1k} CPU s/1k`, cpu <= bar.cpuSPer1k, cpu.toFixed(2));
  }
  const [verdict] = ratioVerdict(`${name}: CPU / CPU without a rate`, cpu / cpuWithRedis(free), {
    most: BARS.maxCpuTimesUnlimited,
  });
  return verdict;
}

function cpuWithRedis({ cpuSPer1k, redisCpuSPer1k }) {
  return cpuSPer1k.median + (redisCpuSPer1k?.median ?? 0);
}

function judgeOne(figuresOf) {
  const [trawl, redis, floor, crawlee] = ["trawl", "trawl-redis", "floor", "crawlee"].map(figuresOf);
  if (trawl === undefined) return [];
  const cpu = trawl.cpuSPer1k.median;
  return [
    ...ratioVerdict("trawl / floor, CPU", floor && cpu / floor.cpuSPer1k.median, { most: BARS.maxCpuTimesFloor }),
    ...ratioVerdict(
      "trawl on Redis with its Redis / trawl, CPU",
      redis && (redis.cpuSPer1k.median + redis.redisCpuSPer1k.median) / cpu,
      {
        most: BARS.maxRedisTimesEmbedded,
      },
    ),
    ...ratioVerdict("crawlee / trawl, CPU", crawlee && crawlee.cpuSPer1k.median / cpu, {
      least: BARS.minCrawleeTimesTrawl,
    }),
    // The worst run is judged, not the median: a memory limit must never be exceeded.
    verdictOf(
      `trawl stays under ${BARS.peakRssMbUnder} MB`,
      trawl.peakRssMb.max < BARS.peakRssMbUnder,
      `its largest run used ${Math.round(trawl.peakRssMb.max)} MB`,
    ),
  ];
}

function judgeSubmit(trawl, bare) {
  if (trawl === undefined) return [];
  const ratioOf = (figure) => trawl[figure].median / bare[figure].median;
  const list = bare && ratioOf("listMs");
  return [
    ...ratioVerdict("10,000 URLs of 50 hosts / bare handler", list, { most: BARS.maxListTimesBare }),
    ...ratioVerdict("10,000 URLs of one host / bare handler", bare && ratioOf("oneHostMs"), {
      most: BARS.maxOneHostTimesBare,
    }),
    ...ratioVerdict("10,000 URLs of 8,000 new hosts / bare handler", bare && ratioOf("newHostsMs"), {
      most: BARS.maxNewHostsTimesBare,
    }),
    ...ratioVerdict("one URL during a crawl / idle", trawl.busyMs.median / trawl.idleMs.median, {
      most: BARS.maxBusyTimesIdle,
    }),
    verdictOf(
      `a stream has at least ${BARS.minStreamPerS} URLs/s`,
      trawl.streamPerS.median >= BARS.minStreamPerS,
      `${Math.round(trawl.streamPerS.median)} URLs/s`,
    ),
    verdictOf(
      `the server grows by at most ${BARS.maxGrowthMb} MB`,
      trawl.growthMb.max <= BARS.maxGrowthMb,
      `${Math.round(trawl.growthMb.max)} MB`,
    ),
  ];
}

function judgeMemory(redis) {
  if (redis === undefined) return [];
  const [pending, seen] = [redis.pendingBytes.max, redis.seenBytes.max];
  return [
    verdictOf(
      `at most ${BARS.maxPendingBytes} bytes of Redis per pending URL`,
      pending <= BARS.maxPendingBytes,
      pending.toFixed(1),
    ),
    verdictOf(`at most ${BARS.maxSeenBytes} bytes of Redis per seen URL`, seen <= BARS.maxSeenBytes, seen.toFixed(1)),
  ];
}

/** Returns no verdict if `ratio` is undefined: then one of the two contestants was not run. */
function ratioVerdict(what, ratio, { least = 0, most = Infinity }) {
  if (ratio === undefined) return [];
  const bar = most === Infinity ? `${what}: at least ${least}x` : `${what}: at most ${most}x`;
  return [verdictOf(bar, ratio >= least && ratio <= most, `${ratio.toFixed(2)}x`)];
}

function verdictOf(bar, isMet, result) {
  return { bar, verdict: isMet ? "pass" : "fail", result };
}
