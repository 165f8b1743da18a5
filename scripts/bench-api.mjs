/** `node scripts/bench-api.mjs`: bench/README.md explains the measurements. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { createJobs, measureList, measureSubmit, urlsOf } from "../bench/api/load.mjs";
import { formatTables, judge, summarise } from "../bench/api/report.mjs";
import { openServers } from "../bench/api/servers.mjs";
import { describeMachine, printMachine } from "../bench/harness/machine.mjs";
import { assertCanMeasure } from "../bench/harness/measure.mjs";
import { formatVerdicts } from "../bench/harness/report.mjs";
import { ensureReady } from "./ensure.mjs";
import { interruptions, readCount, readNames, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-api.mjs [options]
  --rounds N          rounds of each case; servers alternate (7)
  --cases a,b         cases to run: list, list-distinct, one-host, many-hosts (all)
  --brokers a,b       brokers to run on: sqlite, redis (both)
  --jobs N            jobs that each list case creates first (300)
  --requests N        requests of list in a round (1000)
  --connections N     connections of list (10)
  --before FOLDER     also run the trawl that is built in another checkout, as before
  --profile FOLDER    write a CPU profile of every server to this folder
  --json FILE         write every run and verdict to this file
Exits with 1 if a limit is not met.`;

const LIST = 10_000;
/** The number of hosts that the URLs of a submission are spread over. */
const HOSTS = { "one-host": 1, "many-hosts": 8_000 };
const LISTS = ["list", "list-distinct"];
const CASES = [...LISTS, ...Object.keys(HOSTS)];
const BROKERS = ["sqlite", "redis"];
const WARM_UP = 2;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  await ensureReady();
  printMachine("compare CPU times, not wall times");
  const signal = interruptions();
  const { servers, close } = await openServers(options);
  const runs = [];
  try {
    for (const name of options.cases) runs.push(...(await runCase(name, servers, options, signal)));
  } finally {
    await close();
  }
  if (signal.aborted) return 130;
  const summary = summarise(runs);
  const verdicts = judge(summary);
  console.log(
    `\nmedian of ${options.rounds} rounds (min-max)\n\n${formatTables(summary)}\n\n${formatVerdicts(verdicts)}`,
  );
  if (options.json !== undefined) {
    const { json, ...settings } = options;
    const result = { settings, machine: describeMachine(), verdicts, summary, runs };
    await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  }
  return verdicts.some(({ verdict }) => verdict === "fail") ? 1 : 0;
}

function readOptions() {
  assertCanMeasure();
  const text = { type: "string" };
  const counts = { rounds: text, jobs: text, requests: text, connections: text };
  const { values } = parseArgs({
    options: { ...counts, cases: text, brokers: text, before: text, profile: text, json: text },
  });
  return {
    rounds: readCount("--rounds", values.rounds ?? "7"),
    cases: readNames("--cases", values.cases, CASES),
    brokers: readNames("--brokers", values.brokers, BROKERS),
    jobs: readCount("--jobs", values.jobs ?? "300"),
    requests: readCount("--requests", values.requests ?? "1000"),
    connections: readCount("--connections", values.connections ?? "10"),
    before: values.before === undefined ? undefined : resolve(values.before),
    profile: values.profile === undefined ? undefined : resolve(values.profile),
    json: values.json,
  };
}

/** The first rounds are a warm-up and are not counted. */
async function runCase(name, servers, options, signal) {
  const isList = LISTS.includes(name);
  const own = servers.filter((server) => !isList || server.name !== "bare");
  if (isList) for (const server of own) await createJobs(server, options.jobs);
  const runs = [];
  for (let round = 1 - WARM_UP; round <= options.rounds && !signal.aborted; round++) {
    const urls = isList ? [] : urlsOf(`${name}${round}`, LIST, HOSTS[name]);
    for (const server of own) {
      const figures = isList
        ? await measureList(server, { ...options, isDistinct: name === "list-distinct" })
        : await measureSubmit(server, urls);
      if (round > 0) runs.push({ case: name, server: server.name, broker: server.broker, round, figures });
    }
  }
  return runs;
}
