/** `npm run bench`: bench/README.md explains the measurements. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { judge } from "../bench/bars.mjs";
import { listAliases, listGroups } from "../bench/groups.mjs";
import { BENCH_FOLDER, ROOT } from "../bench/harness/folders.mjs";
import { describeMachine, printMachine } from "../bench/harness/machine.mjs";
import { assertCanMeasure } from "../bench/harness/measure.mjs";
import { alignColumns, formatVerdicts } from "../bench/harness/report.mjs";
import { runRounds } from "../bench/harness/rounds.mjs";
import { summarise, tableOf } from "../bench/harness/summary.mjs";
import { findPacketObstacle } from "../bench/origin/tcpdump.mjs";
import { makeCharts } from "../bench/page/charts.mjs";
import { renderPage } from "../bench/page/render-page.mjs";
import { ensureReady } from "./ensure.mjs";
import { interruptions, readCount, readNames, withOptions } from "./options.mjs";

const NAMES = listGroups({ before: "" });
const USAGE = `Usage: npm run bench -- [options]
  --only a,b          groups to run (all):
${Object.entries(NAMES)
  .map(([name, { title }]) => `                        ${name.padEnd(11)} ${title}`)
  .join("\n")}
                        ${"crawl".padEnd(11)} all crawls, from one to few
  --contestants a,b   contestants to run (all): ${Object.keys(NAMES.one.contestants).filter(isNotBefore).join(", ")};
                      in frontier and memory: embedded, redis; in submit: trawl, bare
  --rounds N          runs of each contestant, interleaved (3)
  --before DIR        also run the Trawl that is built in another checkout, in the same rounds
  --packets           judge gaps between requests by the packets that tcpdump captures, not by the access log
  --pages N           pages of a crawl in total (4000 for one site, 41 per site for many)
  --scale X           share of the full sizes of frontier, memory and submit, such as 0.1 (1)
  --budget N          seconds after which a run of another crawler is ended (20)
  --timeout N         seconds after which a run has failed (300)
  --json FILE         write every run to this file (.bench/results.json)
  --write             write docs/benchmarks.md and its pictures in docs/media
  --from FILE[,FILE]  measure nothing; use the runs of these files
Examples:
  npm run bench -- --only one --rounds 1 --contestants floor,trawl    a quick check
  npm run bench -- --only many-4,many-10 --contestants trawl --packets --before ../trawl-old
  npm run bench -- --packets --write                                  everything, and the page
Exits with 1 if a run of Trawl failed or a limit is not met.`;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const signal = interruptions();
  const result = options.from === undefined ? await measureAll(options, signal) : await readResults(options.from);
  if (signal.aborted) return 130;
  const groups = listGroups(result);
  const summary = summarise(result.runs);
  const verdicts = judge(summary, result.sizes);
  printTables(groups, summary, result.rounds);
  if (verdicts.length > 0) console.log(`\n${formatVerdicts(verdicts)}`);
  if (options.write) await writePage({ result, groups, summary });
  const isFailed = ({ problem, isSkipped, contestant }) => problem !== undefined && !isSkipped && isOurs(contestant);
  return result.runs.some(isFailed) || verdicts.some(({ verdict }) => verdict === "fail") ? 1 : 0;
}

function readOptions() {
  assertCanMeasure();
  const [text, flag] = [{ type: "string" }, { type: "boolean" }];
  const counts = { rounds: text, pages: text, scale: text, budget: text, timeout: text };
  const files = { before: text, json: text, from: text };
  const flags = { packets: flag, write: flag, help: { ...flag, short: "h" } };
  const { values } = parseArgs({ options: { only: text, contestants: text, ...counts, ...files, ...flags } });
  const scale = Number(values.scale ?? "1");
  if (!(scale > 0 && scale <= 10))
    throw new Error(`--scale takes a number above 0 and up to 10, not "${values.scale}"`);
  const before = values.before === undefined ? undefined : resolve(values.before);
  const groups = listGroups({ before });
  const contestants = Object.values(groups).flatMap((group) => Object.keys(group.contestants));
  return {
    help: values.help === true,
    only: readNames("--only", values.only, Object.keys(groups), listAliases(groups)),
    contestants: readContestants(values.contestants, [...new Set(contestants)]),
    rounds: readCount("--rounds", values.rounds ?? "3"),
    before,
    packets: values.packets === true,
    pages: values.pages === undefined ? undefined : readCount("--pages", values.pages),
    scale,
    budgetMs: readCount("--budget", values.budget ?? "20") * 1_000,
    timeoutMs: readCount("--timeout", values.timeout ?? "300") * 1_000,
    json: values.json ?? join(BENCH_FOLDER, "results.json"),
    write: values.write === true,
    from: values.from?.split(","),
  };
}

/** With `--before`, the older build of each selected contestant also runs. */
function readContestants(given, known) {
  const names = readNames("--contestants", given, known);
  const older = names.flatMap((name) => [name.replace("trawl", "before"), `before-${name}`]);
  return known.filter((name) => names.includes(name) || older.includes(name));
}

async function measureAll(options, signal) {
  await ensureReady();
  printMachine("the measured CPU times will be too high, and the speeds too low");
  const obstacle = options.packets ? findPacketObstacle() : undefined;
  if (obstacle !== undefined) console.log(`note: --packets is ignored: ${obstacle}; gaps are judged by the access log`);
  const machine = describeMachine();
  const used = { ...options, packets: options.packets && obstacle === undefined };
  const { runs, versions } = await runRounds({
    ...{ options: used, groups: listGroups(options), signal },
    print: (line) => console.log(line),
  });
  const { rounds, pages, scale, before, budgetMs } = options;
  const result = {
    ...{ at: new Date().toISOString(), machine, versions, rounds, budgetS: budgetMs / 1_000 },
    // The result is published, so it does not contain the folder of the other checkout, only that there was one.
    ...{ before: before === undefined ? undefined : "before", sizes: { pages, scale }, command: commandLine() },
    runs,
  };
  await mkdir(BENCH_FOLDER, { recursive: true });
  await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
  return result;
}

/** The command as typed, without paths of this machine. */
function commandLine() {
  const args = process.argv.slice(2).join(" ");
  return `npm run bench -- ${args}`.replace(/ --(json|before)[= ]\S+/g, "").trim();
}

/** Joins the runs of several files; the description is that of the first. */
async function readResults(files) {
  const results = await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, "utf8"))));
  const describe = ({ sizes, rounds, budgetS, machine }) => JSON.stringify([sizes, rounds, budgetS, machine.cpu]);
  if (new Set(results.map(describe)).size > 1)
    throw new Error("--from: the files have different sizes, rounds, budgets or machines");
  const versions = Object.assign({}, ...results.map((result) => result.versions));
  const command = results.map((result) => result.command).join("\n");
  const before = results.find((result) => result.before !== undefined)?.before;
  return { ...results[0], before, versions, command, runs: results.flatMap(({ runs }) => runs) };
}

function printTables(groups, summary, rounds) {
  console.log(`\nmedian of ${rounds} rounds (min-max)`);
  for (const name of Object.keys(groups).filter((one) => summary.some((entry) => entry.group === one)))
    console.log(`\n${name}: ${groups[name].title}\n${alignColumns(tableOf(name, groups[name], summary))}`);
}

async function writePage({ result, groups, summary }) {
  const charts = makeCharts(groups, summary);
  await mkdir(join(ROOT, "docs/media"), { recursive: true });
  for (const { file, svg } of charts) await writeFile(join(ROOT, "docs/media", file), svg);
  await writeFile(join(ROOT, "docs/benchmarks.md"), renderPage({ result, groups, summary, charts }));
  console.log(`\nwrote docs/benchmarks.md and ${charts.length} pictures in docs/media`);
}

function isOurs(contestant) {
  return /^(trawl|embedded|redis)/.test(contestant);
}

function isNotBefore(name) {
  return !name.startsWith("before");
}
