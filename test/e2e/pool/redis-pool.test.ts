import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findRedisObstacle, type RedisServer, startRedis } from "../../services/redis.ts";
import { newFleet } from "../fleet/fleet.ts";
import { describePool } from "./describe-pool.ts";
import { poolLines, started, untilEnded } from "./pool.ts";

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`with Redis (${obstacle ?? "available"})`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describePool("Redis", {
    fresh: async () => ({ TRAWL_BROKER: redis.url, TRAWL_BROKER_PREFIX: `t${randomBytes(6).toString("hex")}` }),
    missing: {},
  });

  it("exits with 3, prints the reason once, and ends all its processes when the broker is lost", async () => {
    const ownRedis = await startRedis();
    const env = { TRAWL_BROKER: ownRedis.url, TRAWL_BROKER_RETRY_FOR: "500ms" };
    const fleet = await newFleet({ fresh: async () => env, missing: {} });
    const pool = await fleet.worker(["--processes", "2"]);
    await fleet.poll(fleet.diagnose, ({ findings }) => findings.some(({ message }) => message.startsWith("2 workers")));
    await ownRedis.stop();

    const end = await pool.ended;
    expect(end).toMatchObject({ code: 3, stdout: "" });
    expect(end.stderr.match(/^trawl: BROKER_UNREACHABLE: /gm)).toHaveLength(1);
    expect(started(poolLines(end))).toHaveLength(2); // they were not replaced
    await untilEnded(started(poolLines(end)));
  });
});
