/** `node scripts/bench-frontier.mjs`: bench/README.md explains the measurements. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { CASES, planRound } from "../bench/frontier/cases.mjs";
import { CONTESTANTS, findContestantObstacle } from "../bench/frontier/contestants.mjs";
import { judge } from "../bench/frontier/judge.mjs";
import { formatProgress, formatTables } from "../bench/frontier/report.mjs";
import { runOne } from "../bench/frontier/run.mjs";
import { describeMachine, printMachine } from "../bench/harness/machine.mjs";
import { formatVerdicts } from "../bench/harness/report.mjs";
import { ensureReady } from "./ensure.mjs";
import { interruptions, readCount, readNames, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-frontier.mjs [options]
  --scale X          share of the full sizes, such as 0.01 for a quick check (1)
  --sites N          sites that the URLs of enqueue, drain and memory are spread over (10)
  --rounds N         rounds of enqueue, drain, operations, latency and first-byte; contestants alternate (3)
  --cases a,b        cases to run: ${Object.keys(CASES).join(", ")} (all)
  --only a,b         contestants to run: ${Object.keys(CONTESTANTS).join(", ")} (all)
  --appendonly WHEN  no, everysec or always: append-only file of Redis, for all contestants (no)
  --program NAME     redis-server or valkey-server (redis-server)
  --source           run Trawl from src/ instead of dist/
  --timeout N        seconds a single measurement may take (900)
  --json FILE        write every run and verdict to this file`;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  if (options.from === "dist") await ensureReady();
  const signal = interruptions();
  const versions = await prepare(options).catch((cause) => console.error(cause.message));
  if (versions === undefined) return 1;
  const runs = await runRounds(options, signal);
  if (signal.aborted) return 130;
  const verdicts = judge(runs);
  console.log(`\nmedian of ${options.rounds} rounds (min-max)\n\n${formatTables(runs)}\n\n${formatVerdicts(verdicts)}`);
  if (options.scale < 1) console.log(`note: the limits apply to --scale 1; this was --scale ${options.scale}`);
  if (options.json !== undefined) {
    const { json, ...settings } = options;
    const result = { settings, machine: describeMachine(), versions, verdicts, runs };
    await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  }
  const isMissed = options.scale >= 1 && verdicts.some(({ verdict }) => verdict === "fail");
  return isMissed || runs.some(({ problem }) => problem !== undefined) ? 1 : 0;
}

function readOptions() {
  const text = { type: "string" };
  const flags = { scale: text, sites: text, rounds: text, cases: text, only: text, appendonly: text, program: text };
  const { values } = parseArgs({ options: { ...flags, source: { type: "boolean" }, timeout: text, json: text } });
  const scale = Number(values.scale ?? "1");
  if (!(scale > 0 && scale <= 10))
    throw new Error(`--scale takes a number above 0 and up to 10, not "${values.scale}"`);
  return {
    scale,
    sites: readCount("--sites", values.sites ?? "10"),
    rounds: readCount("--rounds", values.rounds ?? "3"),
    cases: readNames("--cases", values.cases, Object.keys(CASES)),
    only: readNames("--only", values.only, Object.keys(CONTESTANTS)),
    appendonly: readNames("--appendonly", values.appendonly ?? "no", ["no", "everysec", "always"])[0],
    program: readNames("--program", values.program ?? "redis-server", ["redis-server", "valkey-server"])[0],
    from: values.source ? "src" : "dist",
    timeoutMs: readCount("--timeout", values.timeout ?? "900") * 1_000,
    json: values.json,
  };
}

/**
 * Prints the machine and the versions of the contestants, and installs missing ones. Throws if a contestant cannot run.
 */
async function prepare(options) {
  printMachine("the measured rates will be too low");
  const versions = {};
  for (const name of options.only) {
    const obstacle = findContestantObstacle(name, options.from);
    if (obstacle !== undefined) throw new Error(`${name} cannot run: ${obstacle}; leave it out with --only`);
    versions[name] = await CONTESTANTS[name].prepare();
    console.log(`${name} ${versions[name] ?? ""}`);
  }
  return versions;
}

async function runRounds({ program, appendonly, from, timeoutMs, rounds, ...plan }, signal) {
  const { startRedis } = await createJiti(import.meta.url).import("../test/services/redis.ts");
  const runs = [];
  const redis = await startRedis({ program, appendonly });
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const planned of planRound({ round, ...plan })) {
        if (signal.aborted) return runs;
        const run = await runOne(planned, { url: redis.url, from, timeoutMs, signal });
        console.log(formatProgress(run));
        runs.push(run);
      }
    }
    return runs;
  } finally {
    await redis.stop();
  }
}
