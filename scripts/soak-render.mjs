#!/usr/bin/env node
// Renders many pages of a site that needs JavaScript, with worker processes that are replaced repeatedly. Checks the
// memory of all processes, and that no browser process is left behind. Exits with 1 if there was a problem.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/soak-render.mjs [options]
  --pages N                pages to render (500)
  --max-tasks-per-child N  tasks after which a worker process is replaced (20)
  --tabs N                 pages that one process renders at once (4)
  --json                   print one JSON object as the last line`;

const MAIN = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const SAMPLE_MS = 500;
/** The largest allowed ratio of the memory in the last part of the run to the memory in the first part. */
const GROWTH_MAX = 1.3;
const WINDOW = 100;

const jiti = createJiti(import.meta.url);
process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

function readOptions() {
  const { values } = parseArgs({
    options: {
      pages: { type: "string", default: "500" },
      "max-tasks-per-child": { type: "string", default: "20" },
      tabs: { type: "string", default: "4" },
      json: { type: "boolean", default: false },
    },
  });
  return {
    pages: readCount("--pages", values.pages, 10),
    perChild: readCount("--max-tasks-per-child", values["max-tasks-per-child"]),
    tabs: readCount("--tabs", values.tabs),
    json: values.json,
  };
}

async function main({ pages, perChild, tabs, json }) {
  await ensureReady();
  const { startScriptSite, titleOf } = await jiti.import("../test/site/script-site.ts");
  const { watchBrowsers } = await jiti.import("../test/browser/processes.ts");
  const folder = mkdtempSync(join(tmpdir(), "trawl-soak-"));
  const browsers = watchBrowsers(join(folder, "trawl-browser-"));
  const site = await startScriptSite({ pages });
  const here = { folder, browsers, site, titleOf, pages, perChild, env: { TRAWL_TABS: String(tabs) } };
  try {
    const soak = await soakOnce(here);
    const left = { exit: browsers.lines().length, ...(await killed(here)) };
    const problems = problemsOf({ soak, left, pages });
    for (const problem of problems) console.error(`PROBLEM: ${problem}`);
    const report = { pages, perChild, tabs, ...soak, left, isRight: problems.length === 0 };
    console.log(json ? JSON.stringify(report) : describeReport(report));
    return problems.length === 0 ? 0 : 1;
  } finally {
    browsers.stop();
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Renders all pages of one job. */
async function soakOnce(here) {
  const { site, pages, titleOf } = here;
  const job = await submit(
    here,
    Array.from({ length: pages }, (_, nth) => `${site.url}/p/${nth + 1}`),
  );
  const startedAt = performance.now();
  const worker = start(here, ["worker", ...workerArgs(here), "--drain", "--json"]);
  const samples = [];
  const sampling = setInterval(
    () => samples.push({ requested: requestedPages(site), rssMb: treeRssMb(worker.child.pid) }),
    SAMPLE_MS,
  );
  const { code } = await worker.ended;
  clearInterval(sampling);
  const seconds = (performance.now() - startedAt) / 1000;
  const { stdout } = await start(here, ["records", job]).ended;
  const titles = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).title);
  const wanted = new Set(Array.from({ length: pages }, (_, nth) => titleOf(nth + 1)));
  const right = titles.filter((title) => wanted.delete(title)).length;
  const window = Math.min(WINDOW, Math.floor(pages / 3));
  const firstMb = mean(samples.filter((sample) => sample.requested > 0 && sample.requested <= window));
  const lastMb = mean(samples.filter((sample) => sample.requested > pages - window));
  return {
    code,
    seconds: round(seconds),
    records: titles.length,
    right,
    firstMb,
    lastMb,
    growth: round(lastMb / firstMb),
  };
}

/** Counts the browser processes that are left after a worker, or its supervisor, was killed while it rendered. */
async function killed(here) {
  const left = {};
  for (const victim of ["worker", "supervisor"]) {
    await submit(here, [`${here.site.url}/loop?${victim}`]);
    const { child, ended } = start(here, ["worker", ...workerArgs(here)]);
    if (!(await until(() => here.browsers.lines().some((line) => line.includes("--type=renderer"))))) {
      throw new Error(`no page was rendered before the ${victim} was killed`); // the check would prove nothing
    }
    const pid = victim === "supervisor" ? child.pid : childrenOf(child.pid)[0];
    process.kill(pid, "SIGKILL");
    // If the supervisor kept running, it would start another worker, which would render the task again.
    if (victim === "worker") process.kill(child.pid, "SIGTERM");
    await ended;
    await until(() => here.browsers.lines().length === 0);
    left[victim] = here.browsers.lines().length;
    await start(here, ["cancel", await lastJob(here)]).ended;
  }
  return left;
}

function workerArgs({ perChild }) {
  return ["--queues", "render", "--max-tasks-per-child", String(perChild)];
}

async function submit(here, urls) {
  const browser = { waitFor: { selector: ".title" }, settle: "20s" };
  const politeness = { rate: "unlimited", perSite: 64, robots: false };
  const file = join(here.folder, "job.json");
  writeFileSync(file, JSON.stringify({ urls, render: "always", browser, extract: { title: ".title" }, politeness }));
  const { stdout } = await start(here, ["submit", file, "--json"]).ended;
  return JSON.parse(stdout.trim().split("\n").at(-1)).id;
}

async function lastJob(here) {
  const { stdout } = await start(here, ["jobs", "--json"]).ended;
  return JSON.parse(stdout.trim().split("\n").at(-1)).jobs[0].id;
}

function start({ folder, env }, args) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { ...process.env, ...env, TMPDIR: folder, TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_GRACE: "500ms" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.on("data", (text) => (stdout += text));
  return { child, ended: once(child, "close").then(([code]) => ({ code, stdout })) };
}

function requestedPages({ log }) {
  return log.filter(({ path }) => path.startsWith("/p/")).length;
}

function processes() {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const [state, ppid] = readFileSync(`/proc/${pid}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        return state === "Z" ? [] : [{ pid: Number(pid), ppid: Number(ppid) }];
      } catch {
        return []; // the process has ended
      }
    });
}

function childrenOf(parent) {
  return processes()
    .filter(({ ppid }) => ppid === parent)
    .map(({ pid }) => pid);
}

/** Resident memory of a process and its descendants. Shared pages count once per process. */
function treeRssMb(root) {
  const all = processes();
  const tree = new Set([root]);
  for (let size = 0; size !== tree.size; ) {
    size = tree.size;
    for (const { pid, ppid } of all) if (tree.has(ppid)) tree.add(pid);
  }
  return [...tree].reduce((sum, pid) => sum + rssMb(pid), 0);
}

function rssMb(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function until(isMet, timeoutMs = 30_000) {
  for (const end = performance.now() + timeoutMs; performance.now() < end; ) {
    if (isMet()) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return isMet();
}

function problemsOf({ soak, left, pages }) {
  const { code, right, records, growth } = soak;
  return [
    ...(code === 0 ? [] : [`the worker ended with ${code}`]),
    ...(right === pages && records === pages ? [] : [`${right} of ${records} records are correct; expected ${pages}`]),
    ...(growth <= GROWTH_MAX ? [] : [`the last pages took ${growth} times the memory of the first`]),
    ...Object.entries(left).flatMap(([after, count]) =>
      count === 0 ? [] : [`${count} processes left after ${after}`],
    ),
  ];
}

function describeReport({ pages, seconds, right, firstMb, lastMb, growth, left }) {
  return [
    `${right} of ${pages} pages rendered correctly in ${seconds} s, ${round(pages / seconds)} per second`,
    `memory of all processes: ${firstMb} MB for the first pages, ${lastMb} MB for the last, a factor of ${growth}`,
    `processes left: ${left.exit} after the end, ${left.worker} after SIGKILL of the worker, ${left.supervisor} after SIGKILL of the supervisor`,
  ].join("\n");
}

function mean(samples) {
  return round(samples.reduce((sum, { rssMb }) => sum + rssMb, 0) / samples.length);
}

function round(number) {
  return Number(number.toFixed(2));
}
