#!/usr/bin/env node
// `node scripts/bench-dashboard.mjs`: checks whether tables of 100,000 rows scroll smoothly, and measures by how much
// open dashboards slow down a fleet.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { openTabs, startClients, watchTab } from "../bench/dashboard/tabs.mjs";
import { traceTasks } from "../bench/dashboard/trace-tasks.mjs";
import { median, openStage as openFleet } from "../bench/fleet/stage.mjs";
import { MAIN } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-dashboard.mjs [options]
  --only WHAT   rows: only scrolling; tabs: only the fleet
  --rows N      records, pages and sites to scroll through (100000)
  --jobs N      jobs to scroll through; each is created with one request (20000)
  --tabs N      open dashboards (20)
  --rounds N    pairs of intervals, one without and one with dashboards, in alternating order (100)
  --seconds N   length of an interval; if it is short, a slowdown of the machine affects both intervals of a pair (1)
  --chromium    open real tabs in Chromium; by default, clients send the same requests as one real tab.
                On a small machine, Chromium itself uses the cores that the fleet needs.
Exits with 1 if a limit is not met. Run the comparison with tabs on an idle machine.`;

const BARS = { longTaskMs: 100, loss: 0.03 };
/** The distance of one turn of the wheel: first like a user, then as fast as rows can be loaded. */
const WHEEL_PX = { slow: 600, fast: 30_000 };
const SLOW_TURNS = 100;
/** The benchmark fails after this many turns, far more than 100,000 rows need. */
const TURNS_MAX = 2_000;
const TICKS_PER_SECOND = 100;
/** More pages than two workers can fetch in a second. */
const PAGES_PER_SECOND = 7_500;
const PAGES_PER_REQUEST = 50_000;
const SETTLE_MS = 300;
const WARM_INTERVALS = 5;
const REPORT_EVERY = 20;
const FAST = { rate: "unlimited", perSite: 32, robots: false };
const jiti = createJiti(import.meta.url);

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({
    options: {
      only: text,
      rows: text,
      jobs: text,
      tabs: text,
      rounds: text,
      seconds: text,
      chromium: { type: "boolean" },
    },
  });
  if (![undefined, "rows", "tabs"].includes(values.only))
    throw new Error(`--only takes rows or tabs, not "${values.only}"`);
  return {
    only: values.only,
    rows: readCount("--rows", values.rows ?? "100000"),
    jobs: readCount("--jobs", values.jobs ?? "20000"),
    tabs: readCount("--tabs", values.tabs ?? "20"),
    rounds: readCount("--rounds", values.rounds ?? "100"),
    seconds: readCount("--seconds", values.seconds ?? "1"),
    isChromium: values.chromium === true,
  };
}

async function main(options) {
  await ensureReady();
  const { openViewers } = await jiti.import("../test/dashboard/browser.ts");
  const viewers = await openViewers();
  try {
    const verdicts = [
      ...(options.only === "tabs" ? [] : await scrollAll(viewers, options)),
      ...(options.only === "rows" ? [] : await compareTabs(viewers, options)),
    ];
    for (const { text, isMet } of verdicts) console.log(`${isMet ? "pass" : "FAIL"}  ${text}`);
    return verdicts.every(({ isMet }) => isMet) ? 0 : 1;
  } finally {
    await viewers.close();
  }
}

async function scrollAll(viewers, { rows, jobs }) {
  const [{ openStage }, { fillMany }, { inPage }] = await Promise.all([
    jiti.import("../test/dashboard/stage.ts"),
    jiti.import("../test/dashboard/fill-many.ts"),
    jiti.import("../test/dashboard/browser.ts"),
  ]);
  const stage = await openStage({ workers: [] });
  try {
    const { crawl, sites } = await fillMany(stage, { rows, jobs });
    const paths = {
      records: `/jobs/${crawl}?tab=records`,
      pages: `/jobs/${crawl}?tab=pages`,
      "sites of a job": `/jobs/${sites}?tab=sites`,
      sites: "/sites?sort=name",
      jobs: "/jobs",
    };
    const verdicts = [];
    for (const [name, path] of Object.entries(paths)) {
      const viewer = await viewers.open({ key: stage.key });
      const endTrace = await traceTasks(viewer.page);
      await viewer.page.goto(`${stage.url}/#${path}`);
      verdicts.push(
        await scrollThrough(viewer, { name, endTrace, findScroller: readFileSync(inPage("longest-scroller"), "utf8") }),
      );
      await viewer.close();
    }
    return verdicts;
  } finally {
    await stage.close();
  }
}

/** Scrolls by wheel to the end of the table, including rows that are loaded on the way. */
async function scrollThrough({ page }, { name, endTrace, findScroller }) {
  await page.waitForLoadState("networkidle").catch(() => {}); // an open event stream never goes idle
  await page.waitForTimeout(1_500);
  let [turns, still, max, last] = [0, 0, 0, undefined];
  while (turns < TURNS_MAX && still < 10) {
    const at = await page.evaluate(findScroller);
    if (at === null) break;
    if (turns === 0) await page.mouse.move(at.x, at.y);
    still = at.left <= 2 && !at.isBusy && at.scrolled === last?.scrolled ? still + 1 : 0;
    max = Math.max(max, at.rows);
    last = at;
    await page.mouse.wheel(0, turns < SLOW_TURNS ? WHEEL_PX.slow : WHEEL_PX.fast);
    await page.waitForTimeout(at.left <= 2 ? 100 : 16);
    turns++;
  }
  const tasks = await endTrace();
  const longest = Math.max(0, ...tasks.map(({ wallMs }) => wallMs));
  const when = tasks.map(
    ({ wallMs, cpuMs, atMs }) => `${wallMs.toFixed(0)} (CPU ${cpuMs.toFixed(0)}) at ${(atMs / 1_000).toFixed(1)} s`,
  );
  const far = Math.round(last?.scrolled ?? 0).toLocaleString("en");
  const text = `${name}: scrolled ${far} px in ${turns} turns, at most ${max} rows in the document; ${tasks.length} long tasks, the longest ${longest.toFixed(0)} ms (at most ${BARS.longTaskMs})`;
  console.log(`      ${text}${when.length === 0 ? "" : `: ${when.join(", ")}`}`);
  return { text, isMet: longest <= BARS.longTaskMs && turns < TURNS_MAX && last !== undefined };
}

async function compareTabs(viewers, { tabs, rounds, seconds, isChromium }) {
  const fleet = await openFleet();
  try {
    const server = await fleet.server(MAIN, ["serve", "--port", "0", "--json", "--quiet"]);
    await Promise.all([1, 2].map(() => fleet.worker(["--queues", "fetch", "-c", "32"])));
    const requests = await watchTab(viewers, `${server.url}/#/`);
    for (const { path, everyMs } of requests) console.log(`      a tab requests ${path} every ${everyMs} ms`);
    const clients = startClients(server.url, tabs, requests);
    const open = () => (isChromium ? openTabs(viewers, server.url, tabs) : clients.open());
    const intervals = 2 * rounds + WARM_INTERVALS;
    const job = await startLongJob(fleet, server, intervals * (SETTLE_MS / 1_000 + seconds) * PAGES_PER_SECOND);
    const pids = { server: [server.pid], redis: [fleet.redisPid], viewers: [clients.pid] };
    const measure = () => measureInterval(fleet, { job, pids, seconds });
    for (let nth = 0; nth < WARM_INTERVALS; nth++) await measure();
    const pairs = [];
    for (let round = 1; round <= rounds; round++) {
      const pair = {};
      for (const kind of round % 2 === 1 ? ["without", "with"] : ["with", "without"]) {
        const close = kind === "with" ? await open() : async () => {};
        pair[kind] = await measure();
        await close();
      }
      pairs.push(pair);
      if (round % REPORT_EVERY === 0) console.log(`      after ${round} pairs: ${describePairs(pairs)}`);
    }
    await clients.end();
    return [verdictOf(pairs, tabs, isChromium)];
  } finally {
    await fleet.close();
  }
}

/** Judges by the median ratio of the pairs; a pair is two consecutive intervals, one with open tabs and one without. */
function verdictOf(pairs, tabs, isChromium) {
  const kind = isChromium ? "tabs in Chromium" : "clients that send the requests of tabs";
  return { text: `${tabs} ${kind}: ${describePairs(pairs)}`, isMet: 1 - ratioOf(pairs).middle <= BARS.loss };
}

function describePairs(pairs) {
  const { low, middle, high } = ratioOf(pairs);
  const of = (kind, figure) => median(pairs.map((pair) => pair[kind][figure]));
  const mean = (kind, who) => pairs.reduce((sum, pair) => sum + pair[kind][who], 0) / pairs.length;
  const [pages, ratios] = [["without", "with"].map((kind) => of(kind, "perSecond").toFixed(0)), [low, middle, high]];
  const [least, middling, max] = ratios.map((ratio) => ratio.toFixed(3));
  const cores = ["server", "redis", "viewers"].map(
    (who) => `${who} ${mean("without", who).toFixed(3)} -> ${mean("with", who).toFixed(3)}`,
  );
  return `${pages.join(" -> ")} pages/s; the median of ${pairs.length} pairs is ${middling}x (at least ${1 - BARS.loss}; 95 % confidence: ${least} to ${max}); cores used: ${cores.join(", ")}`;
}

/** The median ratio and its 95 % confidence interval, for any distribution. */
function ratioOf(pairs) {
  const ratios = pairs.map((pair) => pair.with.perSecond / pair.without.perSecond).sort((one, other) => one - other);
  const [half, spread] = [ratios.length / 2, 0.98 * Math.sqrt(ratios.length)];
  const at = (nth) => ratios[Math.min(ratios.length - 1, Math.max(0, Math.floor(nth)))];
  return { low: at(half - spread), middle: at(half), high: at(half + spread) };
}

/** A job with enough URLs for all intervals. */
async function startLongJob(fleet, { url }, pages) {
  const sites = await fleet.openSites(4, 0);
  const { id } = await post(`${url}/v1/jobs`, { open: true, politeness: FAST, keep: { records: false } });
  for (let from = 0; from < pages; from += PAGES_PER_REQUEST) {
    const lines = Array.from({ length: PAGES_PER_REQUEST }, (_, nth) => `"${sites[nth % 4].url}/${from + nth}"\n`);
    const headers = { "content-type": "application/x-ndjson" };
    const answer = await fetch(`${url}/v1/jobs/${id}/urls`, { method: "POST", headers, body: lines.join("") });
    if (!answer.ok) throw new Error(`the server answered ${answer.status} to the URLs of the job`);
    await answer.arrayBuffer();
  }
  return id;
}

/** Waits until opened or closed tabs have settled, then measures. CPU is in cores. */
async function measureInterval(fleet, { job, pids, seconds }) {
  await sleep(SETTLE_MS);
  const from = await readState();
  await sleep(seconds * 1_000);
  const to = await readState();
  if (to.counts.queued === 0) throw new Error("the job ran out of URLs: PAGES_PER_SECOND is too low for this machine");
  const span = (to.at - from.at) / 1_000;
  const shares = Object.keys(from.cpu).map((who) => [who, (to.cpu[who] - from.cpu[who]) / span]);
  return { perSecond: (to.counts.done - from.counts.done) / span, ...Object.fromEntries(shares) };

  async function readState() {
    const { counts } = await fleet.frontier.findJob(job);
    const cpu = Object.entries(pids).map(([who, all]) => [who, all.reduce((sum, pid) => sum + cpuSeconds(pid), 0)]);
    return { at: performance.now(), counts, cpu: Object.fromEntries(cpu) };
  }
}

async function post(address, body) {
  const headers = { "content-type": "application/json" };
  return (await fetch(address, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** User and system time of a process and its children. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return children.reduce((sum, child) => sum + cpuSeconds(child), own);
}
