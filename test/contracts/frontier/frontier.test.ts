import { afterAll, beforeAll, expect, it } from "vitest";
import { FRONTIER_CLAUSES } from "../../../src/frontier/frontier.ts";
import { type RedisServer, startRedis } from "../../services/redis.ts";
import { describeFrontier } from "./describe-frontier.ts";
import { modelBackend } from "./model-backend.ts";
import { createRedisBackend } from "./redis-backend.ts";
import { createSqliteBackend } from "./sqlite-backend.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ appendonly: "everysec" });
});
afterAll(() => redis.stop());

const coverages = [
  describeFrontier("the model", modelBackend),
  describeFrontier("SQLite", createSqliteBackend()),
  describeFrontier("Redis", createRedisBackend({ server: () => redis, shards: 1 })),
];

it("every clause has a test, on every backend unless a gap is declared", () => {
  for (const { name, tested, gaps } of coverages) {
    const missing = FRONTIER_CLAUSES.filter((clause) => !tested.has(clause) && !gaps.has(clause));
    expect(missing, `clauses without a test on ${name}`).toEqual([]);
    const needless = [...gaps.keys()].filter((clause) => tested.has(clause));
    expect(needless, `clauses declared a gap on ${name} though tested`).toEqual([]);
  }
  const testedSomewhere = new Set(coverages.flatMap(({ tested }) => [...tested]));
  expect(FRONTIER_CLAUSES.filter((clause) => !testedSomewhere.has(clause))).toEqual([]);
});
