#!/usr/bin/env node
// Runs a fleet of workers on one broker, kills workers and broker repeatedly, and checks the logs of the sites. Exits
// with 1 if there was a problem.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/chaos-fleet.mjs [options]
  --workers N       worker processes (8)
  -c, --concurrency N   tasks that each worker runs at once (16)
  --sites N         sites (200)
  --urls N          pages of all sites together (50000)
  --seconds N       time that the slowest sites need at the rate they allow (200)
  --kills N         kill -9 of workers (300)
  --redis-kills N   kill -9 of the broker (10)
  --broker KIND     redis or sqlite (redis); sqlite cannot be killed
  --machines N      run the workers in N network namespaces; needs root on Linux (0: no namespaces)
  --seed N          seed of all random choices (random)
  --timeout N       seconds after which the run has failed (1200)
  --keep            keep the folder, also after success
  --json            print one JSON object as the last line`;

const NUMBERS = {
  workers: "8",
  concurrency: "16",
  sites: "200",
  urls: "50000",
  seconds: "200",
  kills: "300",
  "redis-kills": "10",
  machines: "0",
  seed: String(1 + Math.floor(Math.random() * 1e6)),
  timeout: "1200",
};

const jiti = createJiti(import.meta.url);
process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  await ensureReady();
  const { LOOPBACK, inOwnNetwork, findMachinesObstacle, openMachines } = await jiti.import(
    "../test/chaos/fleet/fleet-network.ts",
  );
  if (options.machines === 0) return crawl(options, LOOPBACK);
  if (options.alone) return crawl(options, await openMachines(options.machines));
  const obstacle = findMachinesObstacle();
  if (obstacle !== undefined) {
    console.error(`cannot create machines: ${obstacle}`);
    return 2;
  }
  const self = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2), "--alone"];
  const [command, ...args] = inOwnNetwork([...self, "--seed", String(options.seed)]);
  return spawnSync(command, args, { stdio: "inherit" }).status ?? 1;
}

async function crawl(options, network) {
  const { runFleet } = await jiti.import("../test/chaos/fleet/run-fleet.ts");
  const { progressLine, politenessRows, verdictLines } = await jiti.import("../test/chaos/fleet/fleet-report.ts");
  const folder = mkdtempSync(join(tmpdir(), "trawl-fleet-"));
  const { keep, json, ...tuning } = options;
  console.error(`${JSON.stringify(tuning)} in ${folder}`);
  try {
    const run = await runFleet({
      ...tuning,
      folder,
      network,
      onProgress: (progress) => console.error(progressLine(progress)),
    });
    console.table(politenessRows(run));
    console.log(verdictLines(run).join("\n"));
    if (json) console.log(JSON.stringify({ ...run, problems: run.problems.slice(0, 100) }));
    const isGood = run.problems.length === 0;
    if (isGood && !keep) rmSync(folder, { recursive: true, force: true });
    else console.error(`files left in ${folder}`);
    return isGood ? 0 : 1;
  } finally {
    network.close();
  }
}

function readOptions() {
  const numbers = Object.entries(NUMBERS).map(([flag, value]) => [flag, { type: "string", default: value }]);
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(numbers),
      concurrency: { type: "string", short: "c", default: NUMBERS.concurrency },
      broker: { type: "string", default: "redis" },
      keep: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      // Set by this script when it starts itself in a network namespace.
      alone: { type: "boolean", default: false },
    },
  });
  const number = (flag) => readCount(`--${flag}`, values[flag], 0);
  if (!["redis", "sqlite"].includes(values.broker))
    throw new Error(`--broker takes redis or sqlite, not "${values.broker}"`);
  const brokerKills = number("redis-kills");
  if (values.broker === "sqlite" && brokerKills > 0) throw new Error("SQLite cannot be killed: set --redis-kills 0");
  return {
    workers: number("workers"),
    concurrency: number("concurrency"),
    kills: number("kills"),
    brokerKills,
    broker: values.broker,
    web: { sites: number("sites"), pages: number("urls"), seconds: number("seconds") },
    machines: number("machines"),
    seed: number("seed"),
    timeoutMs: number("timeout") * 1000,
    keep: values.keep,
    json: values.json,
    alone: values.alone,
  };
}
