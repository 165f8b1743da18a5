/** Who takes part, and in which variants; the best one counts. */
import { ensureBullmq } from "./bullmq-home.mjs";
import { openBullmq } from "./contestants/bullmq.mjs";
import { openApp } from "./contestants/trawl.mjs";
import { openZset } from "./contestants/zset.mjs";
import { findTrawlObstacle } from "./load-trawl.mjs";

const concurrencies = [{ concurrency: 50 }, { concurrency: 200 }, { concurrency: 500 }];

/** `share`: of the URLs that Trawl gets. A slow contestant's rate is the same with fewer, and the run ends in minutes. */
export const CONTESTANTS = {
  trawl: { open: openApp, hasDedup: true, share: 1, drainVariants: [{ max: 100 }, { max: 500 }], prepare: nothing },
  bullmq: {
    open: (options) => openBullmq({ ...options, dedup: true }),
    hasDedup: true,
    share: 0.1,
    drainVariants: concurrencies,
    prepare: ensureBullmq,
  },
  "bullmq-plain": {
    open: (options) => openBullmq({ ...options, dedup: false }),
    hasDedup: false,
    share: 0.1,
    drainVariants: concurrencies,
    prepare: ensureBullmq,
  },
  zset: { open: openZset, hasDedup: true, share: 1, drainVariants: [{ max: 500 }], prepare: nothing },
};

/** Undefined, or why this one cannot take part. */
export function findContestantObstacle(name, from) {
  return name === "trawl" ? findTrawlObstacle(from) : undefined;
}

async function nothing() {
  return undefined;
}
