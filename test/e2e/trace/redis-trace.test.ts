import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import { findRedisObstacle, type RedisServer, startRedis } from "../../services/redis.ts";
import { describeTrace } from "./describe-trace.ts";

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`with Redis (${obstacle ?? "available"})`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describeTrace("Redis", {
    fresh: async () => ({ TRAWL_BROKER: redis.url, TRAWL_BROKER_PREFIX: `t${randomBytes(6).toString("hex")}` }),
    missing: { TRAWL_BROKER: "redis://127.0.0.1:1" },
  });
});
