/** Workers on separate machines, which are connected only by a network, keep the politeness limits together. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { findRedisObstacle } from "../../services/redis.ts";
import { addressOf, findMachinesObstacle } from "./fleet-network.ts";
import type { FleetRun } from "./run-fleet.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/chaos-fleet.mjs", import.meta.url));
const SIZE = ["--machines", "3", "--workers", "3", "--sites", "20", "--urls", "600", "--seconds", "10", "--kills", "4"];
/** So low that one worker cannot serve all sites: the other workers get tasks as soon as they have started. */
const LIMIT = ["--concurrency", "2"];
/** A run that takes longer has failed. */
const TIMEOUT_MS = 400_000;

const obstacle = findMachinesObstacle() ?? findRedisObstacle("redis-server");
if (obstacle !== undefined) console.warn(`SKIPPED: workers on separate machines (${obstacle})`);

describe("a fleet on three machines", { timeout: TIMEOUT_MS + 100_000 }, () => {
  it.skipIf(obstacle !== undefined)("keeps every site's limits across the network, and loses nothing", async () => {
    const args = [SCRIPT, ...SIZE, ...LIMIT, "--redis-kills", "1", "--timeout", String(TIMEOUT_MS / 1000), "--json"];
    // A run with problems exits with 1 and still prints them.
    const ended = promisify(execFile)(process.execPath, args, { timeout: TIMEOUT_MS + 50_000 });
    const { stdout } = await ended.catch((failed: { stdout: string }) => failed);
    const fleet = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as FleetRun;

    expect(fleet).toMatchObject({ problems: [], records: 600, kills: 4, brokerKills: 1 });
    // Every request came from one of the machines. How the work is divided among the machines is not specified.
    expect([0, 1, 2].map(addressOf)).toEqual(expect.arrayContaining(fleet.machines));
  });
});
