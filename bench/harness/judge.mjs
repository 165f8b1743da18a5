/** From runs to figures, and from figures to verdicts. Pure. */

/** What Trawl promises. CPU in seconds per page against the other's, memory in MB of its process tree. */
export const BARS = {
  cpuTimesFloorMost: 1.5,
  redisTimesEmbeddedMost: 1.3,
  crawleeTimesTrawlLeast: 8,
  peakRssMbUnder: 250,
};

const FIGURES = ["pagesPerS", "cpuSPer1kPages", "peakRssMb", "wallS"];

/** Per contestant the median, least and most of each figure over its sound runs; no figures if it had none. */
export function summarise(names, runs) {
  return names.map((name) => {
    const own = runs.filter((run) => run.contestant === name);
    const sound = own.filter(isSound);
    const figures = Object.fromEntries(FIGURES.map((figure) => [figure, spread(sound.map((run) => run[figure]))]));
    return { name, runs: own.length, failed: own.length - sound.length, ...(sound.length > 0 ? { figures } : {}) };
  });
}

export function isSound(run) {
  return run.problems.length === 0;
}

export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2;
  return { median, least: sorted[0], most: sorted.at(-1) };
}

/** How many times the CPU per page of `below` the contestant `above` needs; undefined without figures of both. */
export function findCpuRatio(summary, above, below) {
  const [upper, lower] = [above, below].map((name) => summary.find((entry) => entry.name === name)?.figures);
  if (upper === undefined || lower === undefined) return undefined;
  return upper.cpuSPer1kPages.median / lower.cpuSPer1kPages.median;
}

/** One verdict per bar, in words. Nothing is judged where Trawl did not run; `unknown` where the other did not. */
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
  const bar = "trawl fetches every page exactly once and keeps a record of each";
  if (failed === 0) return { bar, verdict: "pass", words: `in all ${runs} runs` };
  return { bar, verdict: "fail", words: `not in ${failed} of ${runs} runs` };
}

function judgeFloor(summary) {
  const bar = `trawl needs at most ${BARS.cpuTimesFloorMost}x the CPU of the floor`;
  const ratio = findCpuRatio(summary, "trawl", "floor");
  if (ratio === undefined) return unknown(bar, summary, "floor");
  return { bar, verdict: ratio <= BARS.cpuTimesFloorMost ? "pass" : "fail", words: `it needs ${ratio.toFixed(2)}x` };
}

function judgeRedis(summary) {
  const bar = `trawl on Redis, its Redis included, needs at most ${BARS.redisTimesEmbeddedMost}x the CPU of the embedded one`;
  const ratio = findCpuRatio(summary, "trawl-redis", "trawl");
  if (ratio === undefined) return unknown(bar, summary, "trawl-redis");
  return {
    bar,
    verdict: ratio <= BARS.redisTimesEmbeddedMost ? "pass" : "fail",
    words: `it needs ${ratio.toFixed(2)}x`,
  };
}

function judgeCrawlee(summary) {
  const bar = `crawlee needs at least ${BARS.crawleeTimesTrawlLeast}x the CPU of trawl`;
  const ratio = findCpuRatio(summary, "crawlee", "trawl");
  if (ratio === undefined) return unknown(bar, summary, "crawlee");
  return {
    bar,
    verdict: ratio >= BARS.crawleeTimesTrawlLeast ? "pass" : "fail",
    words: `it needs ${ratio.toFixed(2)}x`,
  };
}

function judgeMemory({ figures }) {
  const bar = `trawl stays under ${BARS.peakRssMbUnder} MB`;
  if (figures === undefined) return { bar, verdict: "fail", words: "trawl has no sound run" };
  // The worst run, not the median: a limit of memory is one that is never passed.
  const worst = figures.peakRssMb.most;
  return {
    bar,
    verdict: worst < BARS.peakRssMbUnder ? "pass" : "fail",
    words: `its largest run took ${Math.round(worst)} MB`,
  };
}

/** A contestant that was left out on purpose leaves the bar open; one that ran and failed, fails it. */
function unknown(bar, summary, other) {
  const failed = ["trawl", other].filter((name) => summary.some((entry) => entry.name === name && !entry.figures));
  if (failed.length === 0) return { bar, verdict: "unknown", words: `${other} was not run` };
  return { bar, verdict: "fail", words: `${failed.join(" and ")} had no sound run to compare` };
}
