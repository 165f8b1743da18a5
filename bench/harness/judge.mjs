/** Computes figures from runs, and verdicts from figures. Pure. */

/** The limits that Trawl must meet: ratios of CPU seconds per page, and the memory of its process tree in MB. */
export const BARS = {
  maxCpuTimesFloor: 1.5,
  maxRedisTimesEmbedded: 1.3,
  minCrawleeTimesTrawl: 8,
  peakRssMbUnder: 250,
};

const FIGURES = ["pagesPerS", "cpuSPer1kPages", "peakRssMb", "wallS"];

/**
 * For each contestant: median, minimum and maximum of each figure over its valid runs. Without valid runs, no figures.
 */
export function summarise(names, runs) {
  return names.map((name) => {
    const own = runs.filter((run) => run.contestant === name);
    const valid = own.filter(isValid);
    const figures = Object.fromEntries(FIGURES.map((figure) => [figure, spread(valid.map((run) => run[figure]))]));
    return { name, runs: own.length, failed: own.length - valid.length, ...(valid.length > 0 ? { figures } : {}) };
  });
}

export function isValid(run) {
  return run.problems.length === 0;
}

export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}

/** The CPU per page of `above` divided by that of `below`; undefined unless both have figures. */
export function findCpuRatio(summary, above, below) {
  const [upper, lower] = [above, below].map((name) => summary.find((entry) => entry.name === name)?.figures);
  if (upper === undefined || lower === undefined) return undefined;
  return upper.cpuSPer1kPages.median / lower.cpuSPer1kPages.median;
}

/** One verdict per limit. Empty if Trawl did not run; `unknown` if the other contestant did not run. */
export function judge(summary) {
  const trawl = summary.find((entry) => entry.name === "trawl");
  if (trawl === undefined) return [];
  return [
    judgeCompleteness(trawl),
    judgeFloor(summary),
    judgeRedis(summary),
    judgeCrawlee(summary),
    judgeMemory(trawl),
  ];
}

function judgeCompleteness({ runs, failed }) {
  const bar = "trawl fetches every page exactly once and stores a record for each";
  if (failed === 0) return { bar, verdict: "pass", result: `in all ${runs} runs` };
  return { bar, verdict: "fail", result: `not in ${failed} of ${runs} runs` };
}

function judgeFloor(summary) {
  const bar = `trawl needs at most ${BARS.maxCpuTimesFloor}x the CPU of the floor`;
  const ratio = findCpuRatio(summary, "trawl", "floor");
  if (ratio === undefined) return unknown(bar, summary, "floor");
  return { bar, verdict: ratio <= BARS.maxCpuTimesFloor ? "pass" : "fail", result: `it needs ${ratio.toFixed(2)}x` };
}

function judgeRedis(summary) {
  const bar = `trawl on Redis, including its Redis, needs at most ${BARS.maxRedisTimesEmbedded}x the CPU of trawl on SQLite`;
  const ratio = findCpuRatio(summary, "trawl-redis", "trawl");
  if (ratio === undefined) return unknown(bar, summary, "trawl-redis");
  return {
    bar,
    verdict: ratio <= BARS.maxRedisTimesEmbedded ? "pass" : "fail",
    result: `it needs ${ratio.toFixed(2)}x`,
  };
}

function judgeCrawlee(summary) {
  const bar = `crawlee needs at least ${BARS.minCrawleeTimesTrawl}x the CPU of trawl`;
  const ratio = findCpuRatio(summary, "crawlee", "trawl");
  if (ratio === undefined) return unknown(bar, summary, "crawlee");
  return {
    bar,
    verdict: ratio >= BARS.minCrawleeTimesTrawl ? "pass" : "fail",
    result: `it needs ${ratio.toFixed(2)}x`,
  };
}

function judgeMemory({ figures }) {
  const bar = `trawl stays under ${BARS.peakRssMbUnder} MB`;
  if (figures === undefined) return { bar, verdict: "fail", result: "trawl has no valid run" };
  // The worst run is judged, not the median: a memory limit must never be exceeded.
  const worst = figures.peakRssMb.max;
  return {
    bar,
    verdict: worst < BARS.peakRssMbUnder ? "pass" : "fail",
    result: `its largest run used ${Math.round(worst)} MB`,
  };
}

/** If a contestant was not run, the verdict is `unknown`. If it ran and failed, the verdict is `fail`. */
function unknown(bar, summary, other) {
  const failed = ["trawl", other].filter((name) => summary.some((entry) => entry.name === name && !entry.figures));
  if (failed.length === 0) return { bar, verdict: "unknown", result: `${other} was not run` };
  return { bar, verdict: "fail", result: `${failed.join(" and ")} had no valid run to compare` };
}
