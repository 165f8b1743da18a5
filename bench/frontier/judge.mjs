/** Computes figures from runs, and verdicts from figures. Pure. */
import { spread } from "../harness/spread.mjs";

/** The limits that Trawl's frontier on Redis must meet at full scale. */
export const BARS = {
  minEnqueueTimesBullmq: 5,
  minDrainTimesBullmq: 5,
  minGrowthRatio: 0.8,
  maxPendingBytes: 120,
  maxSeenBytes: 16,
  maxWasted: 0,
  maxFirstByteMs: 10,
};

const BULLMQS = ["bullmq", "bullmq-plain"];

/**
 * For each contestant and variant of a case: median, minimum and maximum of the figures that `read` returns, over valid
 * rounds.
 */
export function summarise(runs, name, read) {
  const groups = new Map();
  for (const run of runs.filter((one) => one.case === name && one.figures !== undefined)) {
    const found = read(run.figures);
    if (found === undefined) continue;
    const key = JSON.stringify([run.contestant, run.variant]);
    const group = groups.get(key) ?? { contestant: run.contestant, variant: run.variant, figures: [] };
    group.figures.push(found);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ figures, ...rest }) => ({
    ...rest,
    ...Object.fromEntries(Object.keys(figures[0]).map((key) => [key, spread(figures.map((one) => one[key]))])),
  }));
}

/** One verdict per limit; `unknown` if a contestant that it needs was not run. */
export function judge(runs) {
  const [growth, memory, spacing] = ["growth", "memory", "spacing"].map((name) => figuresOf(runs, name));
  const last = growth?.rows.at(-1);
  return [
    judgeRatio(runs, "enqueue", "enqueue with exact dedup", (figures) => figures.fresh, BARS.minEnqueueTimesBullmq),
    judgeRatio(runs, "drain", "lease and settle", (figures) => figures.drain, BARS.minDrainTimesBullmq),
    judgeFigure(
      `with ${last?.pending.toLocaleString("en-US") ?? "5,000,000"} pending: at least ${BARS.minGrowthRatio}x the rate with 1,000 pending`,
      last?.ratio,
      (ratio) => ratio >= BARS.minGrowthRatio,
      (ratio) => `${ratio.toFixed(2)}x`,
    ),
    judgeFigure(
      `at most ${BARS.maxPendingBytes} bytes per pending URL of 60 characters`,
      memory?.pendingBytes,
      (bytes) => bytes <= BARS.maxPendingBytes,
      (bytes) => `${bytes.toFixed(1)} bytes`,
    ),
    judgeFigure(
      `at most ${BARS.maxSeenBytes} bytes per seen URL`,
      memory?.seenBytes,
      (bytes) => bytes <= BARS.maxSeenBytes,
      (bytes) => `${bytes.toFixed(1)} bytes`,
    ),
    judgeFigure(
      `from submit to the first byte at the site, with idle workers: p50 at most ${BARS.maxFirstByteMs} ms`,
      figuresOf(runs, "first-byte")?.p50Ms,
      (p50) => p50 <= BARS.maxFirstByteMs,
      (p50) => `${p50.toFixed(1)} ms`,
    ),
    judgeFigure(
      "no grant for a site that allows no request",
      spacing?.wasted,
      (wasted) => wasted <= BARS.maxWasted,
      (wasted) => `${wasted} of ${spacing?.grants}`,
    ),
  ];
}

/** Compares the fastest variant of Trawl with the fastest variant of BullMQ, with or without dedup. */
function judgeRatio(runs, name, title, read, least) {
  const bar = `${title}: at least ${least}x BullMQ`;
  const summary = summarise(runs, name, (figures) => read(figures));
  const best = (names) =>
    Math.max(...summary.filter(({ contestant }) => names.includes(contestant)).map(({ perS }) => perS.median));
  const [ours, theirs] = [best(["trawl"]), best(BULLMQS)];
  if (!Number.isFinite(ours) || !Number.isFinite(theirs))
    return { bar, verdict: "unknown", result: "not both contestants were run" };
  const ratio = ours / theirs;
  return { bar, verdict: ratio >= least ? "pass" : "fail", result: `${ratio.toFixed(2)}x` };
}

function judgeFigure(bar, figure, isMet, format) {
  if (figure === undefined) return { bar, verdict: "unknown", result: "not measured" };
  return { bar, verdict: isMet(figure) ? "pass" : "fail", result: format(figure) };
}

function figuresOf(runs, name) {
  return runs.find((run) => run.case === name && run.contestant === "trawl" && run.figures !== undefined)?.figures;
}
