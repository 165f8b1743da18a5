#!/usr/bin/env node
// `node scripts/bench-dashboard.mjs`: whether tables of 100,000 rows scroll, and what open dashboards cost a fleet.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { openClients, openTabs, watchTab } from "../bench/dashboard/tabs.mjs";
import { traceTasks } from "../bench/dashboard/trace-tasks.mjs";
import { median, openStage as openFleet } from "../bench/fleet/stage.mjs";
import { MAIN } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-dashboard.mjs [options]
  --only WHAT   rows: scrolling alone; tabs: the fleet alone
  --rows N      records, pages and sites to scroll through (100000)
  --jobs N      jobs to scroll through; each takes a request to make (20000)
  --tabs N      dashboards that are open (20)
  --pages N     pages of the job that a fleet of two workers fetches in each round (20000)
  --rounds N    pairs of rounds, without and with dashboards, which of the two goes first alternates (5)
  --chromium    real tabs in Chromium; without it, programs that ask what a real tab was seen to ask.
                On a small machine Chromium itself takes the cores that the fleet needs.
Ends with 1 if a bar is missed. Run the tabs on an idle machine.`;

const BARS = { longTaskMs: 100, loss: 0.03 };
/** As a hand turns it, at first; then as fast as rows can be asked for. */
const WHEEL_PX = { slow: 600, fast: 30_000 };
const SLOW_TURNS = 100;
/** Turns after which a table that still grows is left alone: far more than 100,000 rows take. */
const TURNS_MOST = 2_000;
const TICKS_A_SECOND = 100;
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
      pages: text,
      rounds: text,
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
    pages: readCount("--pages", values.pages ?? "20000"),
    rounds: readCount("--rounds", values.rounds ?? "5"),
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
    for (const { says, isMet } of verdicts) console.log(`${isMet ? "pass" : "FAIL"}  ${says}`);
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
    const places = {
      records: `/jobs/${crawl}?tab=records`,
      pages: `/jobs/${crawl}?tab=pages`,
      "sites of a job": `/jobs/${sites}?tab=sites`,
      sites: "/sites?sort=name",
      jobs: "/jobs",
    };
    const verdicts = [];
    for (const [name, place] of Object.entries(places)) {
      const viewer = await viewers.open({ key: stage.key });
      const endTrace = await traceTasks(viewer.page);
      await viewer.page.goto(`${stage.url}/#${place}`);
      verdicts.push(await scrollThrough(viewer, { name, endTrace, lookAt: readFileSync(inPage("scroller"), "utf8") }));
      await viewer.close();
    }
    return verdicts;
  } finally {
    await stage.close();
  }
}

/** By wheel, to the end of what it has and of what comes while it is scrolled. */
async function scrollThrough({ page }, { name, endTrace, lookAt }) {
  await page.waitForLoadState("networkidle").catch(() => {}); // it may listen for ever
  await page.waitForTimeout(1_500);
  let [turns, still, most, last] = [0, 0, 0, undefined];
  while (turns < TURNS_MOST && still < 10) {
    const at = await page.evaluate(lookAt);
    if (at === null) break;
    if (turns === 0) await page.mouse.move(at.x, at.y);
    still = at.left <= 2 && !at.isBusy && at.scrolled === last?.scrolled ? still + 1 : 0;
    most = Math.max(most, at.rows);
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
  const says = `${name}: scrolled ${far} px in ${turns} turns, ${most} rows in the document at most; ${tasks.length} long tasks, the longest ${longest.toFixed(0)} ms (at most ${BARS.longTaskMs})`;
  console.log(`      ${says}${when.length === 0 ? "" : `: ${when.join(", ")}`}`);
  return { says, isMet: longest <= BARS.longTaskMs && turns < TURNS_MOST && last !== undefined };
}

async function compareTabs(viewers, { tabs, pages, rounds, isChromium }) {
  const fleet = await openFleet();
  try {
    const server = await fleet.server(MAIN, ["serve", "--port", "0", "--json", "--quiet"]);
    const workers = await Promise.all([1, 2].map(() => fleet.worker(["--queues", "fetch", "-c", "32"])));
    const sites = await fleet.openSites(4, 0);
    const asked = await watchTab(viewers, `${server.url}/#/`);
    for (const { path, everyMs } of asked) console.log(`      a tab asks ${path} every ${everyMs} ms`);
    const open = () => (isChromium ? openTabs(viewers, server.url, tabs) : openClients(server.url, tabs, asked));
    const crawl = (name) => crawlOnce(server, { workers, sites, pages, name });
    for (const name of ["cold", "warm"]) await crawl(name);
    const times = { without: [], with: [] };
    for (let round = 1; round <= rounds; round++) {
      for (const kind of round % 2 === 1 ? ["without", "with"] : ["with", "without"]) {
        const close = kind === "with" ? await open() : async () => {};
        times[kind].push(await crawl(`${kind}-${round}`));
        await close();
      }
      const [one, other] = [times.without.at(-1), times.with.at(-1)];
      console.log(`      round ${round}: ${show(one)} without, ${show(other)} with ${tabs} open`);
    }
    return [verdictOf(times, tabs, isChromium)];
  } finally {
    await fleet.close();
  }
}

function verdictOf(times, tabs, isChromium) {
  const of = (kind, figure) => median(times[kind].map((one) => one[figure]));
  const ratio = of("with", "perSecond") / of("without", "perSecond");
  const kind = isChromium ? "tabs in Chromium" : "programs that ask like tabs";
  const cpu = ["server", "workers"].map(
    (who) => `${who} ${of("without", who).toFixed(2)} -> ${of("with", who).toFixed(2)}`,
  );
  return {
    says: `${tabs} ${kind}: ${of("without", "perSecond").toFixed(0)} -> ${of("with", "perSecond").toFixed(0)} pages/s, ${ratio.toFixed(3)}x (at least ${1 - BARS.loss}); CPU s per 1,000 pages: ${cpu.join(", ")}`,
    isMet: 1 - ratio <= BARS.loss,
  };
}

function show({ perSecond, server, workers }) {
  return `${perSecond.toFixed(0)} pages/s (CPU s per 1,000 pages: server ${server.toFixed(2)}, workers ${workers.toFixed(2)})`;
}

/** From the first URL that is sent to the end of the job. */
async function crawlOnce({ url, pid }, { workers, sites, pages, name }) {
  const before = { server: cpuSeconds(pid), workers: cpuOf(workers) };
  const startedAt = performance.now();
  const { id } = await ask(`${url}/v1/jobs`, { name, open: true, politeness: FAST, keep: { records: false } });
  const lines = Array.from({ length: pages }, (_, nth) => `"${sites[nth % sites.length].url}/${name}/${nth}"\n`).join(
    "",
  );
  await fetch(`${url}/v1/jobs/${id}/urls?last=true`, {
    ...{ method: "POST", headers: { "content-type": "application/x-ndjson" }, body: lines },
  });
  for await (const _ of (await fetch(`${url}/v1/jobs/${id}/events`)).body); // it ends with the job
  const seconds = (performance.now() - startedAt) / 1_000;
  const { counts } = await (await fetch(`${url}/v1/jobs/${id}`)).json();
  if (counts.done !== pages) throw new Error(`${counts.done} of ${pages} pages were fetched`);
  const thousands = pages / 1_000;
  return {
    perSecond: pages / seconds,
    server: (cpuSeconds(pid) - before.server) / thousands,
    workers: (cpuOf(workers) - before.workers) / thousands,
  };
}

async function ask(address, body) {
  const headers = { "content-type": "application/json" };
  return (await fetch(address, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

function cpuOf(workers) {
  return workers.reduce((sum, { child }) => sum + cpuSeconds(child.pid), 0);
}

/** Of a process and those that it has started, user and system. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
  return children.reduce((sum, child) => sum + cpuSeconds(child), own);
}
