import { describe, expect, it } from "vitest";
import { BARS, FULL_PAGES, judge } from "./bars.mjs";

function same(value) {
  return { median: value, min: value, max: value };
}

function crawled(contestant, { cpu = 1, rss = 100, redis = 0 }) {
  const figures = { cpuSPer1k: same(cpu), peakRssMb: same(rss), redisCpuSPer1k: same(redis) };
  return { group: "one", contestant, figures };
}

function paced(contestant, gapsBy, short) {
  const figures = { shortGaps: same(short), gaps: same(500), shortestGapMs: same(3.1) };
  return { group: "one-300", contestant, gapsBy, figures };
}

const FULL = { pages: FULL_PAGES, scale: 1 };
const verdictsOf = (summary, sizes = FULL) => judge(summary, sizes).map(({ verdict }) => verdict);

describe("the verdicts of the benchmark", () => {
  it("pass figures that are equal to the CPU limits", () => {
    const cpu = BARS.maxCpuTimesFloor;
    const summary = [
      crawled("floor", {}),
      crawled("trawl", { cpu }),
      crawled("trawl-redis", { cpu, redis: cpu * (BARS.maxRedisTimesEmbedded - 1) - 0.001 }),
      crawled("crawlee", { cpu: cpu * BARS.minCrawleeTimesTrawl }),
    ];

    expect(verdictsOf(summary)).toEqual(["pass", "pass", "pass", "pass"]);
  });

  it("judge each limit by its own figure", () => {
    const summary = [
      crawled("floor", {}),
      crawled("trawl", { cpu: 1.6, rss: BARS.peakRssMbUnder }),
      crawled("trawl-redis", { cpu: 1.6, redis: 1 }),
      crawled("crawlee", { cpu: 8 }),
    ];

    expect(verdictsOf(summary)).toEqual(["fail", "fail", "fail", "fail"]);
  });

  it("judge CPU and memory only at full size, and only with both contestants", () => {
    expect(verdictsOf([crawled("floor", {}), crawled("trawl", {})], { pages: undefined, scale: 1 })).toEqual([]);
    expect(verdictsOf([crawled("trawl", {})])).toEqual(["pass"]);
  });

  it("fail a short gap of Trawl that packets show, at any size; the access log is not exact enough", () => {
    const summary = [
      paced("trawl", "packets", 0),
      paced("trawl-redis", "packets", 1),
      paced("trawl-postgres", "log", 9),
    ];

    expect(verdictsOf([...summary, paced("scrapy", "packets", 90)], { scale: 0.1 })).toEqual(["pass", "fail"]);
  });

  it("judge the share of what a site can reach, and the CPU time against the crawl without a rate", () => {
    const many = { group: "many", contestant: "trawl", figures: { pagesPerS: same(900), cpuSPer1k: same(0.8) } };
    const paced = (median, worst, cpu) => ({
      group: "many-4",
      contestant: "trawl",
      figures: {
        ...{ siteShareMedian: same(median), siteShareWorst: same(worst) },
        ...{ allowancePerS: same(1_000), cpuSPer1k: same(cpu) },
      },
    });

    expect(verdictsOf([many, paced(0.86, 0.82, 1)])).toEqual(["pass", "pass"]);
    expect(verdictsOf([many, paced(0.84, 0.82, 1.1)])).toEqual(["fail", "fail"]);
    expect(verdictsOf([many, paced(0.99, 0.8, 1)])).toEqual(["fail", "pass"]);
    expect(verdictsOf([paced(0.5, 0.5, 9)])).toEqual([]);
  });

  it("judge submissions against the bare handler, and the memory of Redis", () => {
    const lists = { listMs: same(51), oneHostMs: same(20), newHostsMs: same(31) };
    const figures = { ...lists, idleMs: same(1), busyMs: same(5), streamPerS: same(6e4), growthMb: same(101) };
    const summary = [
      { group: "submit", contestant: "trawl", figures },
      { group: "submit", contestant: "bare", figures: { listMs: same(10), oneHostMs: same(10), newHostsMs: same(10) } },
      { group: "memory", contestant: "redis", figures: { pendingBytes: same(120), seenBytes: same(17) } },
    ];

    expect(verdictsOf(summary)).toEqual(["fail", "pass", "fail", "pass", "pass", "fail", "pass", "fail"]);
    expect(verdictsOf(summary, { scale: 0.5 })).toEqual([]);
  });
});
