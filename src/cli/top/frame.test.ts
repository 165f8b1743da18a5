import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paintLine } from "./canvas.ts";
import { type Line, widthOf } from "./cells.ts";
import type { FleetSnapshot, TopJob } from "./fleet-snapshot.ts";
import { frameLines, plainLines } from "./frame.ts";
import { PANELS } from "./panels.ts";
import { FIRST_VIEW, type View } from "./view.ts";

const AT = Date.parse("2026-11-16T15:00:00Z");
const NASTY = [
  "a\x1b[2Jb\x9b2Jc\x07\r\n",
  "\u202egnp.exe",
  "日本語".repeat(50),
  "👩‍👩‍👧‍👦🇩🇪️",
  "ẹ́".repeat(90),
  "\ud800",
  "ﷺ\u200b\u2028",
  "\u0600 عربى",
];

const name = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(...NASTY),
  fc.constant("x".repeat(100_000)),
);
const number = fc.oneof(fc.nat(3), fc.nat(10_000_000));
const instant = fc.option(
  fc.nat(1e9).map((ms) => new Date(AT + ms).toISOString()),
  { nil: null },
);

const job = fc.record({
  id: fc.string({ minLength: 1, maxLength: 20 }),
  name,
  state: fc.constantFrom("running", "paused", "finished", "failed", "cancelled"),
  counts: fc.record({ done: number, dead: number, cancelled: number, queued: number, delayed: number, leased: number }),
  perSecond: fc.double({ min: 0, max: 1e6, noNaN: true }),
  etaMs: fc.option(fc.double({ min: 0, max: 1e12, noNaN: true }), { nil: undefined }),
});
const snapshot = fc.record({
  at: fc.constant(AT),
  totals: fc.record({
    pagesPerSecond: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: null }),
    success: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null }),
    p50Ms: fc.option(number, { nil: null }),
    p95Ms: fc.option(number, { nil: null }),
    ...{ waiting: number, inFlight: number, capacity: number, workers: number, rssBytes: number },
  }),
  pagesPerSecond: fc.array(fc.option(number, { nil: null }), { maxLength: 70 }),
  waiting: fc.array(fc.option(number, { nil: null }), { maxLength: 70 }),
  jobs: fc.array(job, { maxLength: 30 }),
  queues: fc.array(fc.record({ queue: name, waiting: number, workers: number, free: number }), { maxLength: 9 }),
  sites: fc.array(
    fc.record({
      ...{ site: name, rate: fc.constantFrom("4/s", "unlimited"), burst: number, perSite: number, inFlight: number },
      ...{ waiting: number, readyAt: instant, blockedUntil: instant, crawlDelayMs: number },
      ...{ rateShare: fc.double({ min: 0.06, max: 1, noNaN: true }), rules: fc.constant([]) },
    }),
    { maxLength: 30 },
  ),
  workers: fc.array(
    fc.record({
      ...{ worker: name, queues: fc.array(name, { maxLength: 3 }), seenAt: fc.constant(AT - 3_000), perSecond: number },
      vitals: fc.option(
        fc.record({ concurrency: number, busy: number, done: number, failed: number, rssBytes: number, upMs: number }),
        { nil: undefined },
      ),
    }),
    { maxLength: 9 },
  ),
}) as unknown as fc.Arbitrary<FleetSnapshot>;

const view = fc.record({
  panel: fc.constantFrom(...PANELS),
  selected: fc.record({ jobs: fc.nat(40), queues: fc.nat(9), sites: fc.nat(40), workers: fc.nat(9) }),
  orderIndex: fc.record({ jobs: fc.nat(3), queues: fc.nat(1), sites: fc.nat(2), workers: fc.nat(2) }),
  ...{ filter: fc.constantFrom("", "a", "\x1b["), isTyping: fc.boolean(), isHelp: fc.boolean(), notice: name },
  question: fc.option(fc.record({ verb: fc.constant("pause"), id: name, name }), { nil: undefined }),
}) as fc.Arbitrary<View>;

const textOf = (line: Line) => line.map(({ text }) => text).join("");

function expectHarmless(lines: readonly Line[], columns: number): void {
  for (const line of lines) {
    const text = textOf(line);
    expect(text).not.toMatch(/\p{Cc}|\p{Bidi_Control}|\p{Cs}|[\u2028\u2029]/u);
    expect(widthOf(text)).toBeLessThanOrEqual(columns);
  }
}

describe("a frame of trawl top", () => {
  it("never exceeds the screen, with any characters in names", () => {
    fc.assert(
      fc.property(
        snapshot,
        view,
        fc.nat(200),
        fc.nat(70),
        fc.option(name, { nil: undefined }),
        (seen, chosen, columns, rows, trouble) => {
          const lines = frameLines(
            { snapshot: seen, view: chosen, source: "redis://a", trouble, command: "npx trawl" },
            { columns, rows },
          );
          expect(lines).toHaveLength(rows);
          expectHarmless(lines, columns);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("has no control characters in a pipe either", () => {
    fc.assert(
      fc.property(snapshot, view, (seen, chosen) => {
        expectHarmless(
          plainLines({ snapshot: seen, view: chosen, source: "-", trouble: undefined, command: "npx trawl" }, 80, 20),
          80,
        );
      }),
      { numRuns: 30 },
    );
  });

  it("keeps the same columns at any speed and progress of a job", () => {
    const jobs = [
      { ...aJob("products", { queued: 100_000 }), perSecond: 0, etaMs: undefined },
      { ...aJob("products", { done: 5, queued: 99_995 }), perSecond: 9.5, etaMs: 59_000 },
      { ...aJob("products", { done: 99_990, queued: 10 }), perSecond: 1_050, etaMs: 35 * 60_000 + 12_000 },
    ];
    const headings = jobs.map((seen) => {
      const drawn = {
        snapshot: { ...EMPTY, jobs: [seen] },
        view: FIRST_VIEW,
        source: "-",
        trouble: undefined,
        command: "npx trawl",
      };
      return frameLines(drawn, { columns: 80, rows: 24 })
        .map(textOf)
        .find((text) => text.includes("STATE"));
    });

    expect(headings[0]).toContain("FAILED");
    expect(new Set(headings).size).toBe(1);
  });

  it("shows all panels on 80 by 24, and only the selected one on a small screen", () => {
    const seen = { ...EMPTY, jobs: [aJob("shop", { queued: 75, done: 25 })] };
    const show = (columns: number, rows: number, panel: View["panel"] = "jobs") =>
      frameLines(
        { snapshot: seen, view: { ...FIRST_VIEW, panel }, source: "-", trouble: undefined, command: "npx trawl" },
        { columns, rows },
      )
        .map((line) => paintLine(line, false))
        .join("\n");

    expect(show(80, 24)).toMatch(
      /JOBS[\s\S]*▸ .*running +━───── +25%.*25\/100.*shop[\s\S]*QUEUES[\s\S]*SITES[\s\S]*WORKERS/,
    );
    expect(show(80, 24)).toContain("no workers; start them with: npx trawl up");
    expect(show(40, 8)).toMatch(/JOBS[\s\S]*shop/);
    expect(show(40, 8)).not.toContain("WORKERS");
    expect(show(40, 8, "workers")).toContain("WORKERS");
  });
});

const EMPTY: FleetSnapshot = {
  at: AT,
  totals: {
    ...{ pagesPerSecond: null, success: null, p50Ms: null, p95Ms: null },
    ...{ waiting: 0, inFlight: 0, capacity: 0, workers: 0, rssBytes: 0 },
  },
  ...{ pagesPerSecond: [], waiting: [], jobs: [], queues: [], sites: [], workers: [] },
};

function aJob(name: string, counts: Partial<TopJob["counts"]>): TopJob {
  const none = { done: 0, dead: 0, cancelled: 0, queued: 0, delayed: 0, leased: 0 };
  return { id: "j1", name, state: "running", counts: { ...none, ...counts }, perSecond: 0, etaMs: undefined } as TopJob;
}
