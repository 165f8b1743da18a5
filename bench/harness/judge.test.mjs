import { describe, expect, it } from "vitest";
import { BARS, judge, spread, summarise } from "./judge.mjs";

const NAMES = ["floor", "trawl", "trawl-redis", "crawlee"];

function aRun(contestant, { cpuSPer1kPages = 1, peakRssMb = 100, problems = [] } = {}) {
  return { contestant, cpuSPer1kPages, peakRssMb, pagesPerS: 1_000, wallS: 20, problems };
}

function verdictsOf(names, runs) {
  return judge(summarise(names, runs)).map(({ verdict }) => verdict);
}

describe("the benchmark's verdicts", () => {
  it("use the middle value of an odd number of runs, and the mean of the two middle values of an even number", () => {
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(spread([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4 });
  });

  it("pass figures that are equal to the CPU limits", () => {
    const trawlCpu = BARS.maxCpuTimesFloor;
    const runs = [
      aRun("floor"),
      aRun("trawl", { cpuSPer1kPages: trawlCpu }),
      aRun("trawl-redis", { cpuSPer1kPages: trawlCpu * BARS.maxRedisTimesEmbedded }),
      aRun("crawlee", { cpuSPer1kPages: trawlCpu * BARS.minCrawleeTimesTrawl }),
    ];

    expect(verdictsOf(NAMES, runs)).toEqual(["pass", "pass", "pass", "pass", "pass"]);
  });

  it("judge each limit by its own figure", () => {
    const runs = [
      aRun("floor"),
      aRun("trawl", { cpuSPer1kPages: 1.6, peakRssMb: BARS.peakRssMbUnder }),
      aRun("trawl-redis", { cpuSPer1kPages: 3 }),
      aRun("crawlee", { cpuSPer1kPages: 8 }),
    ];

    expect(verdictsOf(NAMES, runs)).toEqual(["pass", "fail", "fail", "fail", "fail"]);
  });

  it("judge memory by the worst run, not by the median", () => {
    const runs = [aRun("trawl"), aRun("trawl"), aRun("trawl", { peakRssMb: 400 })];

    expect(verdictsOf(["trawl"], runs)).toEqual(["pass", "unknown", "unknown", "unknown", "fail"]);
  });

  it("exclude the figures of a failed run from the medians, and fail completeness", () => {
    const broken = aRun("trawl", { cpuSPer1kPages: 0.01, problems: ["missed 5 of 20 pages"] });
    const summary = summarise(NAMES, [aRun("floor"), aRun("trawl"), broken]);

    expect(summary[1].figures.cpuSPer1kPages.median).toBe(1);
    expect(judge(summary)[0]).toMatchObject({ verdict: "fail", result: "not in 1 of 2 runs" });
  });

  it("fail a comparison with a contestant that failed, and are unknown for a contestant that was not run", () => {
    const failed = aRun("crawlee", { problems: ["ended with code 1"] });

    expect(verdictsOf(NAMES, [aRun("floor"), aRun("trawl"), failed])[3]).toBe("fail");
    expect(verdictsOf(["floor", "trawl"], [aRun("floor"), aRun("trawl")])[3]).toBe("unknown");
  });
});
