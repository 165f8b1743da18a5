import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findRedisObstacle, type RedisServer, startRedis } from "../../services/redis.ts";
import { newFleet } from "../fleet/fleet.ts";
import { describePool } from "./describe-pool.ts";
import { poolLines, started, untilGone } from "./pool.ts";

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`with a Redis (${obstacle ?? "there is one"})`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describePool("Redis", {
    fresh: async () => ({ TRAWL_BROKER: redis.url, TRAWL_BROKER_PREFIX: `t${randomBytes(6).toString("hex")}` }),
    missing: {},
  });

  it("ends all processes with 3 and the reason, said once, when the broker is lost", async () => {
    const doomed = await startRedis();
    const env = { TRAWL_BROKER: doomed.url, TRAWL_BROKER_PATIENCE: "500ms" };
    const fleet = await newFleet({ fresh: async () => env, missing: {} });
    const pool = await fleet.worker(["--processes", "2"]);
    await fleet.once(fleet.diagnose, ({ findings }) => findings.some(({ says }) => says.startsWith("2 workers")));
    await doomed.stop();

    const end = await pool.ended;
    expect(end).toMatchObject({ code: 3, stdout: "" });
    expect(end.stderr.match(/^trawl: BROKER_UNREACHABLE: /gm)).toHaveLength(1);
    expect(started(poolLines(end))).toHaveLength(2); // and none in their places
    await untilGone(started(poolLines(end)));
  });
});
