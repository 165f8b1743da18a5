import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { emptyLedger, type Ledger } from "../domain/job.ts";
import { createProgress, createSpeedometer, type ProgressSample, plainLine } from "./progress.ts";
import type { Screen } from "./terminal.ts";

function sampleOf(at: number, counts: Partial<Ledger>): ProgressSample {
  const ledger = { ...emptyLedger(), ...counts };
  const job = {
    id: "j1",
    name: "shop",
    state: "running" as const,
    sealed: true,
    queue: "q",
    priority: 5,
    policy: { intervalMs: 0, burst: 1, perSite: 1 },
    limits: { pages: undefined, deadlineAt: undefined },
    createdAt: 0,
    finishedAt: undefined,
    counts: ledger,
    tally: { pages: ledger.done, records: ledger.done, invalid: 0, bytes: 0 },
    spec: undefined,
  };
  return { job, at, note: "job j1  shop" };
}

/** A terminal with this many columns that records the block it shows. */
function terminalOf(columns: number): { screen: Screen; shown(): string[] } {
  let block = "";
  const screen: Screen = {
    out: async () => {},
    err: () => {},
    live: (text) => {
      block = text;
    },
    isLive: true,
    columns: () => columns,
    outColumns: () => columns,
    paint: pc.createColors(false),
    command: "trawl",
  };
  return { screen, shown: () => block.split("\n").slice(0, -1) };
}

describe("the speed of a crawl", () => {
  it("counts completed and failed pages over the last seconds, but not refused links", () => {
    const speedOf = createSpeedometer(5_000);
    speedOf(sampleOf(0, { done: 0, queued: 100 }));

    const { perSecond, etaMs } = speedOf(sampleOf(2_000, { done: 18, dead: 2, refused: 500, queued: 80 }));

    expect(perSecond).toBe(10);
    expect(etaMs).toBe(8_000);
  });

  it("has no estimated end while nothing completes", () => {
    expect(createSpeedometer(5_000)(sampleOf(0, { queued: 3 }))).toEqual({ perSecond: 0, etaMs: undefined });
  });
});

describe("the progress of a crawl", () => {
  it("without a terminal is a line of names and values", () => {
    const sample = sampleOf(0, { done: 312, queued: 100, delayed: 20, leased: 8, dead: 1 });

    expect(plainLine(sample, { perSecond: 48.2, etaMs: 3_000 })).toBe(
      "pages=312 rate=48.2/s queue=120 in_flight=8 failed=1 eta=3s",
    );
  });

  it.each([30, 40, 80, 120])(
    "never has a line longer than a terminal of %i columns, however large the numbers",
    (columns) => {
      const { screen, shown } = terminalOf(columns);
      const progress = createProgress(screen);

      progress.show(sampleOf(0, { done: 0, queued: 12_000_000, leased: 64 }));
      progress.show(sampleOf(1_000, { done: 1_234_567, dead: 12_345, queued: 12_000_000, leased: 64 }));

      expect(shown()).toHaveLength(3);
      expect(shown()[1]).toMatch(/^1,234,567 pages/);
      for (const line of shown()) expect(line.length).toBeLessThanOrEqual(columns);
    },
  );

  it("shows 100% when everything is complete", () => {
    const { screen, shown } = terminalOf(80);
    createProgress(screen).show(sampleOf(0, { done: 10, refused: 90 }));

    expect(shown()[0]).toMatch(/^━+ 100%$/);
  });
});
