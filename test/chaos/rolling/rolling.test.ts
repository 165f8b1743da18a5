import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newFolder } from "../../e2e/folder.ts";
import { findRedisObstacle, startRedis } from "../../services/redis.ts";
import { runRolling } from "./run-rolling.ts";

const obstacle = findRedisObstacle("redis-server");
/** scripts/rolling-restart.mjs runs the same test with four workers and twenty rounds. */
const SMALL = { workers: 2, rounds: 3, pages: 600, onRound: () => {}, signal: new AbortController().signal };
const NO_PROBLEMS = { lost: [], repeated: [], recordsRepeated: [], crashes: 0, problems: [] };

describe("a rolling restart under load", () => {
  it("loses nothing, repeats no request and counts no crash, on SQLite", async () => {
    const verdict = await runRolling({ ...SMALL, folder: newFolder(), env: {} });

    expect(verdict).toMatchObject({ ...NO_PROBLEMS, stops: 6, requested: SMALL.pages });
    expect(verdict.requestedDuringStops).toBeGreaterThan(0);
  });

  it.skipIf(obstacle !== undefined)(
    `loses nothing, repeats no request and counts no crash, on Redis (${obstacle ?? "available"})`,
    async () => {
      const redis = await startRedis();
      try {
        const env = { TRAWL_BROKER: redis.url, TRAWL_BROKER_PREFIX: `t${randomBytes(6).toString("hex")}` };
        const verdict = await runRolling({ ...SMALL, folder: newFolder(), env });

        expect(verdict).toMatchObject({ ...NO_PROBLEMS, stops: 6, requested: SMALL.pages });
      } finally {
        await redis.stop();
      }
    },
  );
});
