/** The contestants and their variants. The verdicts compare the fastest variant of Trawl with that of BullMQ. */

import { openBullmq } from "./contestants/bullmq.mjs";
import { openEmbedded, openTrawl } from "./contestants/trawl.mjs";
import { openZset } from "./contestants/zset.mjs";
import { ensureBullmq } from "./ensure-bullmq.mjs";
import { findTrawlObstacle } from "./load-trawl.mjs";

const concurrencies = [{ concurrency: 50 }, { concurrency: 200 }, { concurrency: 500 }];

/**
 * `share` is the number of URLs that a contestant gets, relative to Trawl. A slow contestant gets fewer URLs, so that
 * it ends in minutes. Its rate does not depend on the number of URLs.
 */
export const CONTESTANTS = {
  trawl: { open: openTrawl, hasDedup: true, share: 1, drainVariants: [{ max: 100 }, { max: 500 }], prepare: nothing },
  "trawl-embedded": {
    open: openEmbedded,
    hasDedup: true,
    share: 1,
    drainVariants: [{ max: 100 }, { max: 500 }],
    prepare: nothing,
  },
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

/** Why this contestant cannot run; undefined if it can. */
export function findContestantObstacle(name, from) {
  return name.startsWith("trawl") ? findTrawlObstacle(from) : undefined;
}

async function nothing() {
  return undefined;
}
