/**
 * `node scripts/profile.mjs`: runs one crawl of the benchmark under V8's CPU profiler and prints where it spent its
 * time.
 */
import { mkdir, mkdtemp, readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { listContestants } from "../bench/crawl/contestants.mjs";
import { runCrawl } from "../bench/crawl/run.mjs";
import { resize, WORKLOADS } from "../bench/crawl/workloads.mjs";
import { rankFunctions, rankParts } from "../bench/harness/cpu-profile.mjs";
import { BENCH_FOLDER, ROOT } from "../bench/harness/folders.mjs";
import { assertCanMeasure } from "../bench/harness/measure.mjs";
import { createSession } from "../bench/harness/session.mjs";
import { interruptions, readCount, withOptions } from "./options.mjs";

const PARTS_SHOWN = 12;
/** The contestants that run in Node, because the profiler is part of Node. */
const CONTESTANTS = Object.fromEntries(Object.entries(listContestants()).filter(([name]) => name !== "scrapy"));
const USAGE = `Usage: node scripts/profile.mjs [options]
  --workload NAME   crawl to profile: ${Object.keys(WORKLOADS).join(", ")} (one)
  --pages N         pages in total (5000)
  --of NAME         contestant to profile: ${Object.keys(CONTESTANTS).join(", ")} (trawl)
  --top N           functions shown (25)`;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  const signal = interruptions();
  console.log(await CONTESTANTS[options.of].prepare());
  const folder = await makeFolder(options.of);
  const run = await crawlProfiled(options, folder, signal);
  for (const line of [...run.problems, ...run.notes]) console.log(line);
  if (run.problems.length === 0)
    console.log(`${run.pages} pages, ${run.pagesPerS.toFixed(0)} pages/s, ${run.cpuSPer1k.toFixed(2)} CPU s/1k pages`);
  const profiles = await readProfiles(folder);
  if (profiles.length === 0) return 1;
  console.log(
    `profiles of ${profiles.length} threads in ${relative(process.cwd(), folder)}; the shares exclude idle time`,
  );
  print(`self time, top ${options.top} functions`, rankFunctions(profiles, place).slice(0, options.top));
  print("self time by part", rankParts(profiles, partOf).slice(0, PARTS_SHOWN));
  return run.problems.length === 0 ? 0 : 1;
}

function readOptions() {
  assertCanMeasure();
  const text = { type: "string" };
  const { values } = parseArgs({ options: { workload: text, pages: text, of: text, top: text } });
  const of = values.of ?? "trawl";
  if (!Object.hasOwn(CONTESTANTS, of)) throw new Error(`--of: unknown contestant "${of}"`);
  const workload = values.workload ?? "one";
  if (!Object.hasOwn(WORKLOADS, workload)) throw new Error(`--workload: unknown workload "${workload}"`);
  const [pages, top] = [readCount("--pages", values.pages ?? "5000"), readCount("--top", values.top ?? "25")];
  return { of, workload, pages, top };
}

async function makeFolder(name) {
  const parent = join(BENCH_FOLDER, "profiles");
  await mkdir(parent, { recursive: true });
  return mkdtemp(join(parent, `${name}-`));
}

async function crawlProfiled({ of, workload, pages }, folder, signal) {
  // These are flags of Node itself, so threads and forked processes of the contestant also write profiles.
  const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`];
  const alter = (command) => ({ ...command, args: [...flags, ...command.args] });
  const session = createSession({ options: { timeoutMs: 900_000, packets: false }, signal });
  try {
    const sized = resize(WORKLOADS[workload], pages);
    const origin = await session.openOrigin(sized);
    return await runCrawl({ contestant: CONTESTANTS[of], workload: sized, origin, alter, ...session });
  } finally {
    await session.close();
  }
}

async function readProfiles(folder) {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".cpuprofile"));
  return Promise.all(files.map(async (file) => JSON.parse(await readFile(join(folder, file), "utf8"))));
}

function print(title, ranking) {
  console.log(`\n${title}`);
  for (const { label, selfMs, share } of ranking) {
    console.log(`${selfMs.toFixed(0).padStart(8)} ms ${(share * 100).toFixed(1).padStart(5)} %  ${label}`);
  }
}

function place(url) {
  return url.startsWith("file:") ? relative(ROOT, fileURLToPath(url)) : url;
}

/** The package a script belongs to, or its folder if it is ours. */
function partOf(url) {
  const path = place(url);
  const packageName = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (packageName !== undefined) return packageName;
  if (path.startsWith("node:")) return "node";
  return path.split("/").slice(0, 2).join("/");
}
