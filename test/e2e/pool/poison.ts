import { readdirSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/open-sqlite-store.ts";
import { CHROMIUM } from "../../browser/chromium.ts";
import { waitUntil } from "../../services/wait-until.ts";
import type { Origin } from "../../site/origin.ts";
import { startScriptSite, titleOf } from "../../site/script-site.ts";
import { jsonLines, lastJson } from "../cli.ts";
import { FAST, type Fleet, type FleetBroker, newFleet, slowSite } from "../fleet/fleet.ts";
import { originOf } from "../sites.ts";
import { type PoolLine, poolLines } from "./pool.ts";

/** The number of good pages that a spider reads, and of good pages that are rendered. */
const [READ, SHOWN] = [150, 50];
/**
 * The code of the harmful handlers. Two exceed their time limit; the others kill three processes each. The large arrays
 * exceed the memory limit in two steps: with many small steps, a busy machine would spend so much time on garbage
 * collections that the time limit came first.
 */
const HANDLERS = {
  "/loop": "for (;;);",
  "/hoard": "const kept = []; for (;;) kept.push(new Array(2e7).fill(kept.length));",
  "/abort": "process.abort();",
  "/exit": "process.exit(7);",
  "/never": "await new Promise(() => {});",
};
const KILLERS = ["/hoard", "/abort", "/exit"];
/** The paths of harmful scripts in the browser: one never ends, one crashes its renderer. */
const SCRIPTS = ["/loop", "/crash"];
/** The number of attempts of a rendered page. */
const ATTEMPTS = 3;
/** More than ten processes start one after the other, which takes long on a busy machine. */
const LONG_MS = 600_000;
/** Both jobs use one queue, so a process handles pages of both kinds at the same time. */
const QUEUE = "mixed";
const FLAGS = ["--queues", QUEUE, "--processes", "2", "-c", "6", "--drain"];
const LIMITS = ["--time-limit", "15", "--max-memory-per-child", "256"];
/** The watchdog of a killed process removes its browsers within this time. */
const CLEANUP_MS = 20_000;

type Letter = { url: string; reason: string; history: { because: string; detail: string }[] };
type Jobs = readonly { id: string }[];
type Site = Pick<Origin, "url" | "log">;

/** Tests harmful pages, in handlers and in the browser, among 200 good ones. */
export function poison(broker: FleetBroker): void {
  it.skipIf(CHROMIUM === undefined)(
    "fails every harmful page, completes every good page, and fails no page because of another",
    async () => {
      const [fleet, site, app] = [
        await newFleet(broker),
        await originOf(page),
        await startScriptSite({ pages: SHOWN }),
      ];
      onTestFinished(app.close);
      const read = Array.from({ length: READ }, (_, nth) => `${site.url}/${nth}`);
      const shown = Array.from({ length: SHOWN }, (_, nth) => `${app.url}/p/${nth + 1}`);
      const [badRead, badShown] = [urlsAt(site, Object.keys(HANDLERS)), urlsAt(app, SCRIPTS)];
      writeFileSync(join(fleet.cwd, "shown.json"), JSON.stringify(shownJob(mix(shown, badShown, 5))));
      writeFileSync(join(fleet.cwd, "poisoned.mjs"), spiderOn(mix(read, badRead, READ / badRead.length)));
      const jobs = [await fleet.submit(["shown.json"]), await fleet.submit(["poisoned.mjs"])];

      const env = { TRAWL_TOTAL_TIMEOUT: "8s", TMPDIR: fleet.cwd };
      const end = await fleet.run(["worker", "--json", ...FLAGS, ...LIMITS], { hangsAfterMs: LONG_MS, env });

      expect(end, end.stderr).toMatchObject({ code: 0 });
      await expectDeadLetters(fleet, site, app);
      const titles = [...read.map((url) => new URL(url).pathname), ...shown.map((_, nth) => titleOf(nth + 1))];
      expect(await recordsOf(fleet, jobs)).toEqual([...read, ...shown].map((url, nth) => [url, titles[nth]]).sort());
      expect(await Promise.all(jobs.map(({ id }) => fleet.job(id)))).toMatchObject([
        { state: "finished", counts: { done: SHOWN, dead: 2 }, tally: { pages: SHOWN, records: SHOWN } },
        { state: "finished", counts: { done: READ, dead: 5 }, tally: { pages: READ, records: READ } },
      ]);
      const deaths = poolLines(end).filter(({ event }) => event === "pool.process_died");
      expectDeathsExplained(deaths, site);
      const requested = documentsRequested(site, app);
      expect([...new Set(requested)].sort()).toEqual([...read, ...shown, ...badRead, ...badShown].sort());
      await expectRepeatsExplained(requested, fleet, jobs, deaths);
      // Proves that rendered pages were running in processes that other pages killed.
      expect(deaths.flatMap(({ underWay = [] }) => underWay).some(({ url }) => shown.includes(url))).toBe(true);
      expect(await waitUntil(() => browsersIn(fleet).length === 0, CLEANUP_MS), browsersIn(fleet).join()).toBe(true);
    },
    LONG_MS,
  );
}

/** Expects one dead letter for each harmful page, with its reason, and no others. */
async function expectDeadLetters(fleet: Fleet, site: Site, app: Site): Promise<void> {
  const { dead } = lastJson<{ dead: Letter[] }>(await fleet.run(["dead", "--all", "--list", "--json"]));
  const reasons = dead.map(({ url, reason, history }) => [url, [reason, ...history.map(({ because }) => because)]]);
  expect(Object.fromEntries(reasons)).toEqual({
    [`${site.url}/loop`]: ["time_limit", "time_limit"],
    [`${site.url}/never`]: ["time_limit", "time_limit"],
    [`${site.url}/hoard`]: ["crashed_worker", "crashed_worker"],
    [`${site.url}/abort`]: ["crashed_worker", "crashed_worker"],
    [`${site.url}/exit`]: ["crashed_worker", "crashed_worker"],
    [`${app.url}/loop`]: ["retries_spent", ...Array(ATTEMPTS).fill("timeout")],
    [`${app.url}/crash`]: ["retries_spent", ...Array(ATTEMPTS).fill("render_failed")],
  });
  const details = dead.map(({ url, history }) => [url, history.at(-1)?.detail]);
  expect(Object.fromEntries(details)).toMatchObject({
    [`${site.url}/loop`]: "it blocked its process past the limit of 15s; the process was killed",
    [`${site.url}/never`]: "the task took longer than its limit of 15s",
    [`${site.url}/hoard`]: "the process that read it ran out of memory, for the third time",
    [`${site.url}/abort`]: "the process that read it died (SIGABRT), for the third time",
    [`${site.url}/exit`]: "the process that read it ended with exit code 7, for the third time",
  });
}

async function recordsOf(fleet: Fleet, jobs: Jobs): Promise<unknown[][]> {
  const lists = await Promise.all(jobs.map(({ id }) => fleet.run(["records", id])));
  const records = lists.flatMap(({ stdout }) => jsonLines<{ _url: string; title: string }>(stdout));
  return records.map(({ _url, title }) => [_url, title]).sort();
}

/**
 * Expects that each process died while it read a harmful page, and that no page killed more processes than necessary.
 */
function expectDeathsExplained(deaths: readonly PoolLine[], site: Site): void {
  const read = deaths.map(({ underWay = [] }) => underWay.filter(({ isReading }) => isReading).map(({ url }) => url));
  const killing = (path: string) => read.filter((urls) => urls.includes(site.url + path));
  for (const path of KILLERS) expect(killing(path), path).toHaveLength(3);
  // /never exceeds its time limit at the same time as /loop, so either may be the cause. /loop fails only when it runs
  // alone in a process.
  const loops = killing("/loop");
  expect(loops.map((urls) => urls.length > 1)).toEqual([...loops.slice(1).map(() => true), false]);
  expect(read).toHaveLength(3 * KILLERS.length + loops.length);
}

/**
 * Compares the logs of the sites with the attempts in the store. Every request must belong to a stored attempt, except
 * requests of tasks that a process had finished but not settled when it died: those tasks run again.
 */
async function expectRepeatsExplained(
  requested: readonly string[],
  fleet: Fleet,
  jobs: Jobs,
  deaths: readonly PoolLine[],
): Promise<void> {
  const store = openSqliteStore(join(fleet.cwd, ".trawl/store.db"), { busyMs: 5_000 });
  let unexplained = 0;
  for (const url of new Set(requested)) {
    const stored = await Promise.all(
      jobs.map(async ({ id: jobId }) => {
        const [pages, attempts] = await Promise.all([
          store.tracePages({ jobId, url }),
          store.traceAttempts({ jobId, url }),
        ]);
        return pages.length + attempts.length;
      }),
    );
    unexplained += Math.max(0, requested.filter((one) => one === url).length - sumOf(stored));
  }
  await store.close();
  const unsettled = deaths.map(({ returned = 0, underWay = [] }) => returned - underWay.filter(isNotReading).length);
  expect(unexplained).toBeLessThanOrEqual(sumOf(unsettled));
}

function isNotReading({ isReading }: { isReading: boolean }): boolean {
  return !isReading;
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The requested URLs, without requests that pages send themselves. */
function documentsRequested(...sites: readonly Site[]): string[] {
  const urls = sites.flatMap(({ url, log }) => log.map(({ path }) => url + path));
  return urls.filter((url) => !/\/(?:app\.js|api\/\d+)$/.test(url));
}

/** The folders of browsers that were not removed. */
function browsersIn({ cwd }: Fleet): string[] {
  return readdirSync(cwd).filter((name) => name.startsWith("trawl-browser-"));
}

/** Inserts the first harmful URL after five good ones, and each further one after `every` good ones. */
function mix(good: readonly string[], harmful: readonly string[], every: number): string[] {
  const all = [...good];
  harmful.forEach((url, nth) => void all.splice(5 + nth * (every + 1), 0, url));
  return all;
}

function urlsAt({ url }: Site, paths: readonly string[]): string[] {
  return paths.map((path) => url + path);
}

function shownJob(urls: readonly string[]) {
  return {
    urls,
    queue: QUEUE,
    render: "always",
    browser: { waitFor: { selector: ".title" }, settle: "30s" },
    extract: { title: ".title" },
    politeness: { rate: "unlimited", perSite: 8, robots: false },
    retries: { max: ATTEMPTS - 1, backoff: "10ms" },
  };
}

/** Tests tasks that take too long in a process that is not blocked. */
export function timeLimits(broker: FleetBroker): void {
  it("aborts a task that waits too long for its site, and retries it", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    const retries = { TRAWL_RETRIES: "1", TRAWL_BACKOFF: "10ms" };
    const { id } = await fleet.submit([`${site.url}/slow`, "--ignore-robots", ...FAST], { env: retries });

    const end = await (await fleet.worker(["--soft-time-limit", "0.3", "--drain"])).ended;

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect((await fleet.job(id)).counts).toMatchObject({ done: 0, dead: 1 });
    const { dead } = lastJson<{ dead: unknown[] }>(await fleet.run(["dead", "--list", "--json"]));
    const late = { because: "timeout", detail: "the task took longer than its limit of 300ms" };
    expect(dead).toMatchObject([{ reason: "retries_spent", history: [late, late] }]);
    open();
  });
}

function page({ url = "" }: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/html" }).end(`<h1>${url}</h1>`);
}

function spiderOn(start: readonly string[]): string {
  const cases = Object.entries(HANDLERS).map(([path, code]) => `case "${path}": { ${code} }`);
  return `
    export default {
      name: "poisoned",
      queue: "${QUEUE}",
      start: ${JSON.stringify(start)},
      politeness: { rate: "unlimited", perSite: 8, robots: false },
      async page({ $, url, emit }) {
        switch (new URL(url).pathname) { ${cases.join("\n")} }
        emit({ title: $("h1").text() });
      },
    };
  `;
}
