/**
 * A fleet loses no page, stores no record twice and never exceeds a rate while workers and broker are killed.
 * scripts/chaos-fleet.mjs runs longer.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findRedisObstacle } from "../../services/redis.ts";
import { LOOPBACK } from "./fleet-network.ts";
import { politenessRows, verdictLines } from "./fleet-report.ts";
import { type FleetOptions, type FleetRun, runFleet } from "./run-fleet.ts";

const SEED = Number(process.env.TRAWL_SEED ?? 1 + Math.floor(Math.random() * 1e6));
/** A run that takes longer has failed. */
const TIMEOUT_MS = 400_000;
const SMALL = {
  workers: 3,
  concurrency: 16,
  network: LOOPBACK,
  seed: SEED,
  timeoutMs: TIMEOUT_MS,
  onProgress: () => {},
};

/** Keeps the folder of a run with problems. */
async function run(options: Pick<FleetOptions, "broker" | "kills" | "brokerKills" | "web">): Promise<FleetRun> {
  const folder = mkdtempSync(join(tmpdir(), "trawl-fleet-"));
  const fleet = await runFleet({ ...SMALL, ...options, folder });
  console.log([...verdictLines(fleet), JSON.stringify(politenessRows(fleet))].join("\n"));
  if (fleet.problems.length === 0) rmSync(folder, { recursive: true, force: true });
  else console.warn(`files are in ${folder}`);
  return fleet;
}

/** Checks that the crawl came close to each limit: otherwise the limit would not have been tested. */
function expectLimitsReached({ worst: { slow, narrow, single } }: FleetRun): void {
  expect(slow?.fastestPerSecond).toBeGreaterThan(0.9 * (slow?.perSecond ?? 0));
  expect(narrow?.maxAtOnce).toBe(narrow?.perSite);
  expect(single?.maxAtOnce).toBe(single?.perSite);
}

const obstacle = findRedisObstacle("redis-server");
if (obstacle !== undefined) console.warn(`SKIPPED: a fleet on Redis (${obstacle})`);

describe(`a fleet, seed ${SEED}`, { timeout: 2 * TIMEOUT_MS }, () => {
  it.skipIf(obstacle !== undefined)(
    "on Redis loses nothing and keeps all limits when workers and Redis are killed",
    async () => {
      const web = { sites: 20, pages: 1_500, seconds: 20 };
      const fleet = await run({ broker: "redis", kills: 12, brokerKills: 2, web });

      expect(fleet).toMatchObject({ problems: [], kills: 12, brokerKills: 2, records: 1_500 });
      expectLimitsReached(fleet);
    },
  );

  it("on SQLite loses nothing and keeps all limits when workers are killed", async () => {
    const web = { sites: 20, pages: 500, seconds: 8 };
    const fleet = await run({ broker: "sqlite", kills: 6, brokerKills: 0, web });

    expect(fleet).toMatchObject({ problems: [], kills: 6, records: 500 });
    expectLimitsReached(fleet);
  });
});
