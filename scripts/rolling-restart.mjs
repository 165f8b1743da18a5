#!/usr/bin/env node
// Stops workers with SIGTERM and replaces them, one after the other, while they work. Then checks the log of the site.
// Exits with 1 if a page was lost or requested twice, or if a worker was counted as crashed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { ensureReady } from "./ensure.mjs";
import { interruptions, readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/rolling-restart.mjs [options]
  --workers N    worker processes (4)
  --rounds N     replacements of each worker (20)
  --pages N      pages of the site (6000)
  --broker KIND  sqlite or redis (sqlite)`;

const jiti = createJiti(import.meta.url);
process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main({ broker, ...counts }) {
  await ensureReady();
  const redis = broker === "redis" ? await (await jiti.import("../test/services/redis.ts")).startRedis() : undefined;
  const folder = mkdtempSync(join(tmpdir(), "trawl-rolling-"));
  try {
    const { runRolling } = await jiti.import("../test/chaos/rolling/run-rolling.ts");
    const env = redis === undefined ? {} : { TRAWL_BROKER: redis.url };
    const onRound = (round, requested) => console.error(`round ${round}: ${requested} pages requested`);
    const verdict = await runRolling({ ...counts, folder, env, onRound, signal: interruptions() });
    const { lost, repeated, recordsRepeated, crashes, problems, ...rest } = verdict;
    const wrong = { lost, repeated, recordsRepeated, problems };
    const sums = Object.fromEntries(Object.entries(wrong).map(([name, list]) => [name, list.length]));
    console.log(JSON.stringify({ broker, ...counts, ...rest, ...sums, crashes }));
    for (const [name, list] of Object.entries(wrong))
      for (const one of list.slice(0, 20)) console.log(`${name}: ${one}`);
    return crashes === 0 && Object.values(sums).every((sum) => sum === 0) ? 0 : 1;
  } finally {
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function readOptions() {
  const options = { workers: "4", rounds: "20", pages: "6000", broker: "sqlite" };
  const { values } = parseArgs({
    options: Object.fromEntries(
      Object.entries(options).map(([name, value]) => [name, { type: "string", default: value }]),
    ),
  });
  if (!["sqlite", "redis"].includes(values.broker))
    throw new Error(`--broker takes sqlite or redis, not ${values.broker}`);
  const count = (name) => readCount(`--${name}`, values[name]);
  return { broker: values.broker, workers: count("workers"), rounds: count("rounds"), pages: count("pages") };
}
