import { describe, expect, it } from "vitest";
import { judge, summarise } from "./judge.mjs";

function rate(perS) {
  return { count: 1_000, perS };
}

function enqueued(contestant, perS, round = 1) {
  return { case: "enqueue", contestant, variant: {}, round, figures: { fresh: rate(perS) } };
}

function drained(contestant, variant, perS) {
  return { case: "drain", contestant, variant, round: 1, figures: { drain: rate(perS) } };
}

function once(name, figures) {
  return { case: name, contestant: "trawl", variant: {}, round: 1, figures };
}

describe("the verdicts on the frontier", () => {
  it("use the median over the rounds, and exclude failed runs", () => {
    const runs = [100, 900, 200].map((perS, nth) => enqueued("trawl", perS, nth + 1));
    const failed = { case: "enqueue", contestant: "trawl", variant: {}, round: 4, problem: "ended with 1" };

    const [entry] = summarise([...runs, failed], "enqueue", ({ fresh }) => fresh);

    expect(entry.perS).toEqual({ median: 200, min: 100, max: 900 });
  });

  it("compare the best variant of Trawl with the best variant of BullMQ", () => {
    const runs = [
      drained("trawl", { max: 100 }, 400),
      drained("trawl", { max: 500 }, 600),
      drained("bullmq", { concurrency: 50 }, 60),
      drained("bullmq-plain", { concurrency: 50 }, 125),
    ];

    expect(judge(runs)[1]).toMatchObject({ verdict: "fail", result: "4.80x" });
    expect(judge(runs.slice(0, 3))[1]).toMatchObject({ verdict: "pass", result: "10.00x" });
  });

  it("are unknown if one of the two contestants was not run", () => {
    expect(judge([enqueued("trawl", 100)])[0]).toMatchObject({ verdict: "unknown" });
    expect(judge([]).map(({ verdict }) => verdict)).toEqual(Array(7).fill("unknown"));
  });

  it("compare the largest level with the smallest, and memory, delay and grants with their limits", () => {
    const runs = [
      once("growth", {
        rows: [
          { pending: 1_000, ratio: 1 },
          { pending: 5_000_000, ratio: 0.79 },
        ],
      }),
      once("memory", { pendingBytes: 120, seenBytes: 16.1 }),
      once("first-byte", { p50Ms: 10.1 }),
      once("spacing", { wasted: 0, grants: 1_900 }),
    ];

    const verdicts = judge(runs).map(({ verdict }) => verdict);
    expect(verdicts).toEqual(["unknown", "unknown", "fail", "pass", "fail", "fail", "pass"]);
  });
});
