import { describe, expect, it } from "vitest";
import { listGroups } from "../groups.mjs";
import { summarise } from "../harness/summary.mjs";
import { makeCharts } from "./charts.mjs";
import { renderPage } from "./render-page.mjs";

function aRun(group, contestant, more) {
  const figures = { pagesPerS: 500, cpuSPer1k: 1.25, peakRssMb: 150, missed: 0, ...more };
  return { group, contestant, round: 1, figures, gapsBy: "packets", notes: [] };
}

const RUNS = [
  aRun("many", "trawl", { pagesPerS: 800 }),
  { group: "many", contestant: "scrapy", round: 0, problem: "cannot | be installed", isSkipped: true, notes: [] },
  aRun("many-10", "trawl", { allowancePerS: 2_500, gaps: 100, shortGaps: 0, shortestGapMs: 99.5 }),
  {
    group: "frontier",
    contestant: "redis",
    round: 1,
    figures: { addPerS: 1e5, leasePerS: 9e4, settlePerS: 8e4 },
    notes: [],
  },
];
const RESULT = {
  at: "2030-01-02T03:04:05.000Z",
  machine: { cpu: "Some CPU", cores: 2, memoryGb: 24, kernel: "Linux 6", node: "20.20.2", commit: "abc1234" },
  versions: { "Trawl, embedded, SQLite": "trawl 0.1.0, built at 2030-01-01T00:00:00.000Z" },
  rounds: 3,
  budgetS: 20,
  sizes: { pages: undefined, scale: 0.1 },
  command: "npm run bench -- --write",
};
const groups = listGroups({ before: undefined });
const summary = summarise(RUNS);
const charts = makeCharts(groups, summary);
const page = renderPage({ result: RESULT, groups, summary, charts });

describe("the page of the benchmarks", () => {
  it("describes the machine, the versions and the rounds", () => {
    expect(page).toContain("Some CPU, 2 cores, 24 GB of memory, Linux 6");
    expect(page).toContain("| versions | trawl 0.1.0; commit abc1234 |");
    expect(page).toContain("| rounds | 3;");
    expect(page).toContain("frontier operations: 10,000 URLs; frontier memory: 100,000 URLs");
  });

  it("has a table for each measured group, and the share of the slower limit", () => {
    expect(page).toContain("### 250 sites at 10/s each");
    expect(page).toContain("| Trawl, embedded, SQLite | 500 | 63 % | 1.25 | 150 | 0 of 100 |");
    expect(page).toContain("| Trawl, Redis | 100,000 | 90,000 | 80,000 |");
    expect(page).not.toContain("one site, unlimited");
  });

  it("shows why a contestant has no figures", () => {
    expect(page).toContain("| Scrapy | - | - | - | cannot \\| be installed |");
  });

  it("shows every chart that has figures", () => {
    expect(charts.map(({ file }) => file)).toEqual([
      "bench-speed.svg",
      "bench-polite.svg",
      "bench-cpu.svg",
      "bench-memory.svg",
    ]);
    for (const { file } of charts) expect(page).toContain(`](media/${file})`);
    expect(charts[1].svg).toContain("500, 63 %");
  });
});
