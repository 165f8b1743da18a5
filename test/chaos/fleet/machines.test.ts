/** Workers on machines of their own, which only a network joins: together they are as polite as one. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureDist } from "../../e2e/dist.ts";
import { findRedisObstacle } from "../../services/redis.ts";
import { addressOf, findMachinesObstacle } from "./ground.ts";
import type { FleetRun } from "./run-fleet.ts";

beforeAll(ensureDist);

const SCRIPT = fileURLToPath(new URL("../../../scripts/chaos-fleet.mjs", import.meta.url));
const SIZE = ["--machines", "3", "--workers", "3", "--sites", "20", "--urls", "600", "--seconds", "10", "--kills", "4"];
const MOST_MS = 110_000;

const obstacle = findMachinesObstacle() ?? findRedisObstacle("redis-server");
if (obstacle !== undefined) console.warn(`SKIPPED: workers on machines of their own (${obstacle})`);

describe("a fleet on three machines", { timeout: MOST_MS + 10_000 }, () => {
  it.skipIf(obstacle !== undefined)("shares one politeness over the network, and loses nothing", async () => {
    const words = [SCRIPT, ...SIZE, "--redis-kills", "1", "--most", "90", "--json"];
    // A run with problems ends with 1, and still says what they are.
    const ended = promisify(execFile)(process.execPath, words, { timeout: MOST_MS });
    const { stdout } = await ended.catch((failed: { stdout: string }) => failed);
    const fleet = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as FleetRun;

    expect(fleet).toMatchObject({ problems: [], records: 600, kills: 4, brokerKills: 1 });
    expect(fleet.machines).toEqual([0, 1, 2].map(addressOf));
  });
});
