#!/usr/bin/env node
// A fleet of workers on one broker, killed all along, judged at the sites' own log. Exit code 1: something was not right.
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
  -c, --concurrency N   tasks each has under way at once (16)
  --sites N         sites (200)
  --urls N          pages of all sites together (50000)
  --seconds N       what the slowest sites take at the rate they allow (200)
  --kills N         kill -9 of workers (300)
  --redis-kills N   kill -9 of the broker (10)
  --broker KIND     redis or sqlite (redis); a file cannot be killed
  --machines N      workers on so many machines of their own: network namespaces, as root on Linux (0: all here)
  --seed N          of everything random (random)
  --most N          seconds after which it hangs (1200)
  --keep            leave the folder, whatever the verdict
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
  most: "1200",
};

const jiti = createJiti(import.meta.url);
process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  await ensureReady();
  const { LOOPBACK, aloneOnItsNetwork, findMachinesObstacle, openMachines } = await jiti.import(
    "../test/chaos/fleet/ground.ts",
  );
  if (options.machines === 0) return crawl(options, LOOPBACK);
  if (options.alone) return crawl(options, await openMachines(options.machines));
  const obstacle = findMachinesObstacle();
  if (obstacle !== undefined) {
    console.error(`no machines here: ${obstacle}`);
    return 2;
  }
  const self = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2), "--alone"];
  const [command, ...words] = aloneOnItsNetwork([...self, "--seed", String(options.seed)]);
  return spawnSync(command, words, { stdio: "inherit" }).status ?? 1;
}

async function crawl(options, ground) {
  const { runFleet } = await jiti.import("../test/chaos/fleet/run-fleet.ts");
  const { progressLine, politenessRows, verdictLines } = await jiti.import("../test/chaos/fleet/fleet-report.ts");
  const folder = mkdtempSync(join(tmpdir(), "trawl-fleet-"));
  const { keep, json, ...tuning } = options;
  console.error(`${JSON.stringify(tuning)} in ${folder}`);
  try {
    const run = await runFleet({
      ...tuning,
      folder,
      ground,
      onProgress: (progress) => console.error(progressLine(progress)),
    });
    console.table(politenessRows(run));
    console.log(verdictLines(run).join("\n"));
    if (json) console.log(JSON.stringify({ ...run, problems: run.problems.slice(0, 100) }));
    const isGood = run.problems.length === 0;
    if (isGood && !keep) rmSync(folder, { recursive: true, force: true });
    else console.error(`left in ${folder}`);
    return isGood ? 0 : 1;
  } finally {
    ground.close();
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
      // Said by this script to itself: the network is nobody else's.
      alone: { type: "boolean", default: false },
    },
  });
  const number = (flag) => readCount(`--${flag}`, values[flag], 0);
  if (!["redis", "sqlite"].includes(values.broker))
    throw new Error(`--broker takes redis or sqlite, not "${values.broker}"`);
  const brokerKills = number("redis-kills");
  if (values.broker === "sqlite" && brokerKills > 0) throw new Error("a file cannot be killed: --redis-kills 0");
  return {
    workers: number("workers"),
    concurrency: number("concurrency"),
    kills: number("kills"),
    brokerKills,
    broker: values.broker,
    web: { sites: number("sites"), pages: number("urls"), seconds: number("seconds") },
    machines: number("machines"),
    seed: number("seed"),
    mostMs: number("most") * 1000,
    keep: values.keep,
    json: values.json,
    alone: values.alone,
  };
}
