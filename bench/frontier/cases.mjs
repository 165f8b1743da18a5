/** All measurements: the function, the contestants, the size, and whether it runs in every round or only once. */
import { measureDrain } from "./cases/drain.mjs";
import { measureEnqueue } from "./cases/enqueue.mjs";
import { measureFirstByte } from "./cases/first-byte.mjs";
import { measureGrowth, measureSites } from "./cases/growth.mjs";
import { measureIdle } from "./cases/idle.mjs";
import { measureLatency } from "./cases/latency.mjs";
import { measureMemory } from "./cases/memory.mjs";
import { measureOperations } from "./cases/operations.mjs";
import { measureSpacing } from "./cases/spacing.mjs";
import { CONTESTANTS } from "./contestants.mjs";

const TRAWLS = ["trawl", "trawl-embedded"];
const BULLMQS = ["bullmq", "bullmq-plain"];

export const CASES = {
  enqueue: {
    run: measureEnqueue,
    who: [...TRAWLS, ...BULLMQS, "zset"],
    everyRound: true,
    size: ({ scale, share, sites }) => ({ urls: atLeast(2_000, 300_000 * scale * share), sites }),
  },
  drain: {
    run: measureDrain,
    who: [...TRAWLS, ...BULLMQS, "zset"],
    everyRound: true,
    size: ({ scale, share, sites }) => ({ urls: atLeast(2_000, 300_000 * scale * share), sites }),
  },
  operations: {
    run: measureOperations,
    who: TRAWLS,
    everyRound: true,
    size: ({ scale, sites }) => ({ urls: atLeast(2_000, 100_000 * scale), sites }),
  },
  latency: {
    run: measureLatency,
    who: ["trawl", "bullmq-plain"],
    everyRound: true,
    size: ({ scale }) => ({ samples: atLeast(50, 500 * scale) }),
  },
  "first-byte": {
    run: measureFirstByte,
    who: ["trawl"],
    everyRound: true,
    size: ({ scale }) => ({ workers: scale < 1 ? 2 : 4, samples: atLeast(20, 200 * scale) }),
  },
  memory: {
    run: measureMemory,
    who: [...TRAWLS, "bullmq"],
    everyRound: false,
    size: ({ scale, share, sites }) => ({ urls: atLeast(2_000, 1_000_000 * scale * share), sites }),
  },
  growth: {
    run: measureGrowth,
    who: ["trawl"],
    everyRound: false,
    size: ({ scale }) => ({
      levels: [1_000, ...[100_000, 1_000_000, 5_000_000].map((count) => atLeast(2_000, count * scale))],
      blocks: atLeast(5, 60 * scale),
    }),
  },
  sites: {
    run: measureSites,
    who: ["trawl"],
    everyRound: false,
    size: ({ scale }) => ({
      pending: atLeast(2_000, 1_000_000 * scale),
      siteCounts: [10, 1_000, atLeast(2_000, 100_000 * scale)],
      blocks: atLeast(5, 60 * scale),
    }),
  },
  spacing: {
    run: measureSpacing,
    who: ["trawl"],
    everyRound: false,
    size: ({ scale }) => ({ sites: 100, seconds: atLeast(1, 10 * scale) }),
  },
  idle: {
    run: measureIdle,
    who: ["trawl", "bullmq-plain"],
    everyRound: false,
    size: ({ scale }) => ({ workers: atLeast(5, 500 * scale), seconds: atLeast(1, 10 * scale) }),
  },
};

/** The runs of one round. Contestants alternate within each case. */
export function planRound({ round, cases, only, scale, sites }) {
  return cases.flatMap((name) => {
    const { who, everyRound, size } = CASES[name];
    if (round > 1 && !everyRound) return [];
    return who
      .filter((contestant) => only.includes(contestant))
      .flatMap((contestant) => {
        const { share, drainVariants } = CONTESTANTS[contestant];
        const variants = name === "drain" ? drainVariants : [{}];
        return variants.map((variant) => ({
          case: name,
          contestant,
          variant,
          round,
          size: size({ scale, share, sites }),
        }));
      });
  });
}

function atLeast(least, count) {
  return Math.max(least, Math.round(count));
}
