import { afterAll, beforeAll, describe } from "vitest";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { type RedisCluster, startCluster } from "../services/redis-cluster.ts";
import { describeSmoke } from "./describe-smoke.ts";

describe("one Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  describeSmoke("one Redis, one shard", { url: () => server.url, shards: 1 });
  describeSmoke("one Redis, three shards", { url: () => server.url, shards: 3 });
});

describe("a cluster", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 3 });
  });
  afterAll(() => cluster.stop());

  describeSmoke("a cluster of three nodes, four shards", { url: () => cluster.url, shards: 4 });
});

const valkeyObstacle = findRedisObstacle("valkey-server");
if (valkeyObstacle !== undefined) console.warn(`SKIPPED: a fleet on Valkey: ${valkeyObstacle}`);

describe.skipIf(valkeyObstacle !== undefined)("Valkey", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ program: "valkey-server" });
  });
  afterAll(() => server.stop());

  describeSmoke("one Valkey", { url: () => server.url, shards: 1 });
});
