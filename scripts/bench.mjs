/** `npm run bench`: bench/README.md explains the measurements. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { addBefore, CONTESTANTS } from "../bench/harness/contestants.mjs";
import { findCpuRatio, judge, summarise } from "../bench/harness/judge.mjs";
import { describeMachine, printMachine } from "../bench/harness/machine.mjs";
import { assertCanMeasure } from "../bench/harness/measure.mjs";
import { formatRun, formatTable, formatVerdicts } from "../bench/harness/report.mjs";
import { runContestant } from "../bench/harness/run.mjs";
import { SEED } from "../bench/harness/seed.mjs";
import { startSite } from "../bench/site/start-site.mjs";
import { interruptions, readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: npm run bench -- [options]
  --pages N           pages of the site (20000)
  --rounds N          runs of each contestant, interleaved (3)
  --only a,b          contestants to run: ${Object.keys(CONTESTANTS).join(", ")} (all)
  --crawlee-pages N   pages of the smaller site that crawlee gets (3000, or --pages if that is less)
  --before FOLDER     also run the trawl that is built in another checkout, as before and before-redis
  --timeout N         seconds a single run may take (900)
  --json FILE         write every run and verdict to this file`;

/** The ratios that are printed if both contestants have run. */
const COMPARED = [
  ["crawlee", "trawl"],
  ["trawl", "before"],
  ["trawl-redis", "before-redis"],
];

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  const signal = interruptions();
  const versions = await prepare(options).catch((cause) => console.error(cause.message));
  if (versions === undefined) return 1;
  const runs = await runRounds(options, signal);
  if (signal.aborted) return 130;
  const summary = summarise(options.only, runs);
  const verdicts = judge(summary);
  printResult(options, summary, verdicts);
  if (options.json !== undefined) {
    const { json, ...settings } = options;
    const result = { settings, machine: describeMachine(), versions, summary, verdicts, runs };
    await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  }
  const failed = runs.some((run) => run.problems.length > 0) || verdicts.some(({ verdict }) => verdict === "fail");
  return failed ? 1 : 0;
}

function readOptions() {
  assertCanMeasure();
  const text = { type: "string" };
  const { values } = parseArgs({
    options: { pages: text, rounds: text, only: text, before: text, "crawlee-pages": text, timeout: text, json: text },
  });
  if (values.before !== undefined) addBefore(resolve(values.before));
  const pages = readCount("--pages", values.pages ?? "20000");
  const only = values.only?.split(",") ?? Object.keys(CONTESTANTS);
  const unknown = only.find((name) => !Object.hasOwn(CONTESTANTS, name));
  if (unknown !== undefined) throw new Error(`--only: unknown contestant "${unknown}"`);
  return {
    pages,
    rounds: readCount("--rounds", values.rounds ?? "3"),
    only: [...new Set(only)],
    crawleePages: readCount("--crawlee-pages", values["crawlee-pages"] ?? String(Math.min(pages, 3_000))),
    timeoutMs: readCount("--timeout", values.timeout ?? "900") * 1_000,
    json: values.json,
  };
}

/** Prints the machine and the versions of the contestants, and installs missing ones. */
async function prepare({ only, pages, crawleePages }) {
  printMachine("the measured CPU times will be too high");
  const versions = {};
  for (const name of only) {
    versions[name] = await CONTESTANTS[name].prepare();
    console.log(`${name}: ${versions[name]}`);
  }
  if (only.includes("crawlee") && crawleePages !== pages) {
    console.log(
      `note: crawlee gets a site of ${crawleePages} pages, not ${pages}, so that it ends in minutes: compare CPU per page, and note that its start-up has more weight`,
    );
  }
  return versions;
}

async function runRounds(options, signal) {
  const sites = await startSites(options);
  const runs = [];
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const name of options.only) {
        if (signal.aborted) return runs;
        const site = sites.get(pagesOf(name, options));
        const run = await runContestant({ name, round, site, timeoutMs: options.timeoutMs, signal });
        console.log(formatRun(run, options.rounds));
        runs.push(run);
      }
    }
    return runs;
  } finally {
    await Promise.all([...sites.values()].map((site) => site.stop()));
  }
}

/** One site per size; contestants with the same size share it. */
async function startSites(options) {
  const sites = new Map();
  for (const pages of new Set(options.only.map((name) => pagesOf(name, options)))) {
    const site = await startSite({ pages, seed: SEED });
    console.log(`site of ${pages} pages, ${(site.bodyBytes / pages / 1_000).toFixed(1)} KB each, at ${site.url}`);
    sites.set(pages, site);
  }
  return sites;
}

function pagesOf(name, { pages, crawleePages }) {
  return name === "crawlee" ? crawleePages : pages;
}

function printResult(options, summary, verdicts) {
  console.log(`\nmedian of ${options.rounds} rounds (min-max)`);
  console.log(formatTable(summary, (name) => pagesOf(name, options)));
  for (const [above, below] of COMPARED) {
    const ratio = findCpuRatio(summary, above, below);
    if (ratio !== undefined) console.log(`${above} needs ${ratio.toFixed(2)}x the CPU of ${below} per page`);
  }
  if (verdicts.length > 0) console.log(`\n${formatVerdicts(verdicts)}`);
}
