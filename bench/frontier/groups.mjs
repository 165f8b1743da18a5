/** The groups `frontier` and `memory`: the frontier alone, without fetching, on both backends. */
import { createJiti } from "jiti";
import { describeTrawl } from "../crawl/contestants.mjs";
import { ROOT } from "../harness/folders.mjs";
import { formatSpread, group } from "../harness/report.mjs";
import { CASES } from "./cases.mjs";
import { runOne } from "./run.mjs";

const SITES = 1_000;
const jiti = createJiti(import.meta.url);
const bytes = (value) => value.toFixed(1);

export function frontierGroups({ before }) {
  const contestants = listContestants(before);
  return {
    frontier: {
      title: "frontier operations, 1,000 sites, 500 URLs per call",
      contestants,
      columns: ["add", "lease", "settle"].map((name) => ({
        heading: `${name}/s`,
        read: ({ figures }) => formatSpread(figures[`${name}PerS`], group),
      })),
      run: (name, session) =>
        runCase("operations", contestants[name], session, ({ add, lease, settle }) => ({
          addPerS: add.perS,
          leasePerS: lease.perS,
          settlePerS: settle.perS,
        })),
    },
    memory: {
      title: "bytes per URL in a frontier: memory of Redis, or broker file",
      contestants,
      columns: [
        { heading: "pending", read: ({ figures }) => formatSpread(figures.pendingBytes, bytes) },
        { heading: "when all are done", read: ({ figures }) => formatSpread(figures.seenBytes, bytes) },
        { heading: "heap of the process, pending", read: ({ figures }) => formatSpread(figures.processBytes, bytes) },
      ],
      run: (name, session) => runCase("memory", contestants[name], session, ({ urls, ...figures }) => figures),
    },
  };
}

function listContestants(before) {
  const one = (label, contestant, root, services) => ({
    label,
    contestant,
    root,
    prepare: () => describeTrawl(root, services),
  });
  return {
    embedded: one("Trawl, embedded", "trawl-embedded", ROOT, ["redis"]),
    ...(before === undefined
      ? {}
      : { "before-embedded": one("before: embedded", "trawl-embedded", before, ["redis"]) }),
    redis: one("Trawl, Redis", "trawl", ROOT, ["redis"]),
    ...(before === undefined ? {} : { "before-redis": one("before: Redis", "trawl", before, ["redis"]) }),
  };
}

async function runCase(name, { contestant, root }, { options, signal }, toFigures) {
  const { startRedis } = await jiti.import("../../test/services/redis.ts");
  const redis = await startRedis();
  try {
    const size = CASES[name].size({ scale: options.scale, share: 1, sites: SITES });
    const planned = { case: name, contestant, variant: {}, size };
    const { timeoutMs } = options;
    const { figures, problem } = await runOne(planned, { url: redis.url, from: root, timeoutMs, signal });
    return problem === undefined ? { figures: toFigures(figures), notes: [] } : { problem, notes: [] };
  } finally {
    await redis.stop();
  }
}
