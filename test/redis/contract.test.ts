/** The whole contract of the frontier on Valkey and on a Redis Cluster. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Features, Gap, Suite } from "../contracts/frontier/backend.ts";
import { backpressure } from "../contracts/frontier/backpressure.ts";
import { bounds } from "../contracts/frontier/bounds.ts";
import { control } from "../contracts/frontier/control.ts";
import { deadLetters } from "../contracts/frontier/dead-letters.ts";
import { dedup } from "../contracts/frontier/dedup.ts";
import { describeFrontier } from "../contracts/frontier/describe-frontier.ts";
import { explaining } from "../contracts/frontier/explain.ts";
import { fairness } from "../contracts/frontier/fairness.ts";
import { forgettingJobs } from "../contracts/frontier/forget.ts";
import { jobSites } from "../contracts/frontier/job-sites.ts";
import { jobs } from "../contracts/frontier/jobs.ts";
import { leasesAndCrashes } from "../contracts/frontier/leases-and-crashes.ts";
import { leasing } from "../contracts/frontier/leasing.ts";
import { ledger } from "../contracts/frontier/ledger.ts";
import { politeness } from "../contracts/frontier/politeness.ts";
import { presence } from "../contracts/frontier/presence.ts";
import { createRedisBackend } from "../contracts/frontier/redis-backend.ts";
import { retries } from "../contracts/frontier/retries.ts";
import { robots } from "../contracts/frontier/robots.ts";
import { schema } from "../contracts/frontier/schema.ts";
import { settling } from "../contracts/frontier/settling.ts";
import { siteBackoff } from "../contracts/frontier/site-backoff.ts";
import { siteListing } from "../contracts/frontier/site-listing.ts";
import { suspects } from "../contracts/frontier/suspects.ts";
import { terms } from "../contracts/frontier/terms.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { type RedisCluster, startCluster } from "../services/redis-cluster.ts";

const valkeyObstacle = findRedisObstacle("valkey-server");
if (valkeyObstacle !== undefined) console.warn(`SKIPPED: the frontier on Valkey: ${valkeyObstacle}`);

describe.skipIf(valkeyObstacle !== undefined)("Valkey", () => {
  let valkey: RedisServer;
  beforeAll(async () => {
    valkey = await startRedis({ program: "valkey-server", appendonly: "everysec" });
  });
  afterAll(() => valkey.stop());

  describeFrontier("Valkey", createRedisBackend({ server: () => valkey, shards: 1 }));
});

/** No shard knows the tasks of the others: each decides itself which tasks a call gets first. */
const BY_SHARD = "shards do not coordinate the order of their sites";
const GAPS: Readonly<Record<string, string>> = {
  "F2 blocks a throttling site for the requested time, and no other site": BY_SHARD,
  "F5 grants tasks of higher priority first, across sites and jobs": BY_SHARD,
  "F5 skips tasks of higher priority at a site that may not be requested now": BY_SHARD,
  "F5 grants tasks of lower priority at a site that the same call has served at a higher one": BY_SHARD,
  "F5 divides a call between the sites that are due": BY_SHARD,
  "F5 first serves the site that was served longest ago": BY_SHARD,
  "F5 serves a new site after those that have waited longer": BY_SHARD,
  "F12 a change of priority moves all tasks of a job and keeps their order": BY_SHARD,
  "F15 lists by job, reason, site and status, page by page": BY_SHARD,
  "F4 a lease call costs the same however much is pending and however many sites are blocked":
    "commands are counted on one server",
};
const TOPICS = [
  ...[leasing, politeness, terms, siteBackoff, robots, fairness, leasesAndCrashes, settling, dedup, ledger, jobs],
  ...[jobSites, siteListing],
  ...[suspects, control, backpressure, retries, deadLetters, explaining, forgettingJobs, presence, bounds, schema],
];

describe("a cluster of three nodes, four shards", () => {
  let cluster: RedisCluster;
  /** The node that holds shard 0, to which a schema test writes. */
  let firstNode: { url: string; port: number };
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 3 });
    firstNode = { url: cluster.url, port: await portOf(cluster, "x:{0}") };
  });
  afterAll(() => cluster.stop());

  const backend = createRedisBackend({ server: () => firstNode, shards: 4 });
  afterEach(() => backend.cleanUp());
  const seen = new Set<string>();
  const test: Suite["test"] = (name, run) => {
    seen.add(name);
    const gap = GAPS[name];
    if (gap === undefined) it(name, run);
    else it.skip(`${name} (${gap})`);
  };
  const suite: Suite = {
    open: (options) => backend.open({ maxPending: 1_000_000, ...options }),
    test,
    testWith(feature, name, run) {
      const has = backend.features[feature] as Features[typeof feature] | Gap;
      if (!("gap" in has)) test(name, () => run(has));
    },
  };
  for (const topic of TOPICS) topic(suite);

  it("skips only tests that exist", () => {
    expect(Object.keys(GAPS).filter((name) => !seen.has(name))).toEqual([]);
  });
});

async function portOf({ nodes }: RedisCluster, key: string): Promise<number> {
  for (const { port } of nodes) {
    const owns = await withRedis(port, (redis) => redis.exists(key)).then(
      () => true,
      () => false, // MOVED: the key is on another node
    );
    if (owns) return port;
  }
  throw new Error(`no node has ${key}`);
}
