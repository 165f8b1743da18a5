import { afterAll, beforeAll, describe, it } from "vitest";
import { findRedisObstacle, type RedisServer, startRedis } from "../../services/redis.ts";
import { describeFrontier, expectCovered } from "./describe-frontier.ts";
import { createRedisBackend } from "./redis-backend.ts";

describe.skipIf(findRedisObstacle("redis-server") !== undefined)("Redis", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis({ appendonly: "everysec" });
  });
  afterAll(() => redis.stop());

  const coverage = describeFrontier("Redis", createRedisBackend({ server: () => redis, shards: 1 }));

  it("every clause has a test, unless a gap is declared", () => expectCovered(coverage));
});
