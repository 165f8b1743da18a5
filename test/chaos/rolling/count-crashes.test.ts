/** Checks the counter itself, because rolling.test.ts relies on a count of 0. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSqliteFrontier } from "../../../src/frontier/sqlite/open.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import type { AnyFrontier } from "../../contracts/frontier/backend.ts";
import { aJob, grantsOf, submit, tasksAt } from "../../contracts/frontier/makers.ts";
import { newFolder } from "../../e2e/folder.ts";
import { createStage } from "../../redis/stage.ts";
import { findRedisObstacle, startRedis } from "../../services/redis.ts";
import { type BrokerLocation, countCrashes } from "./count-crashes.ts";

const obstacle = findRedisObstacle("redis-server");

describe("crash counts that are read directly from the broker", () => {
  it("count tasks whose worker died, on SQLite", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, ".trawl"));
    const path = join(folder, ".trawl/broker.db");
    const frontier = openSqliteFrontier(
      path,
      { clock: systemClock() },
      { maxPending: 100, busyMs: 5_000, pollMs: 1_000 },
    );
    onTestFinished(() => frontier.close());

    await expectCounted(frontier, { folder, env: {} });
  });

  it.skipIf(obstacle !== undefined)(
    `count tasks whose worker died, on Redis (${obstacle ?? "available"})`,
    async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const stage = createStage(redis.url);

      const env = { TRAWL_BROKER: redis.url, TRAWL_BROKER_PREFIX: stage.prefix };
      await expectCounted(await stage.open(), { folder: newFolder(), env });
    },
  );
});

async function expectCounted(frontier: AnyFrontier, location: BrokerLocation): Promise<void> {
  const counts: number[] = [];
  const count = async () => void counts.push(await countCrashes(location));
  await submit(frontier, aJob(), tasksAt("a.test", 3));
  await frontier.release(
    (await grantsOf(frontier, { worker: "polite" })).map(({ taskId, token }) => ({ taskId, token })),
  );
  await count();
  await grantsOf(frontier, { worker: "mortal", max: 2 });
  await count();
  await frontier.abandon("mortal");
  await count();
  await grantsOf(frontier, { worker: "next" });
  await count();

  expect(counts).toEqual([0, 0, 2, 2]);
}
