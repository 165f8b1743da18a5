/** Tests pages that need a browser, with the built command line and a real Chromium. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/open-sqlite-store.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { listenForbidden, pageOf, REQUEST_KINDS, serveAllowed } from "../browser/page-requests.ts";
import { type BrowserWatch, findGroup, watchBrowsers } from "../browser/processes.ts";
import { waitUntil } from "../services/wait-until.ts";
import { startOrigin } from "../site/origin.ts";
import { startScriptSite, titleOf } from "../site/script-site.ts";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";

const POLITENESS = { rate: "unlimited", robots: false };

async function scriptSite(pages: number): Promise<string> {
  const site = await startScriptSite({ pages });
  onTestFinished(site.close);
  return site.url;
}

function folderWith(files: Readonly<Record<string, unknown>>): string {
  const cwd = newFolder();
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(cwd, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return cwd;
}

const TAB_KEYS = `render: "always", politeness: { rate: "unlimited", perSite: 10, robots: false },
  browser: { waitFor: { selector: ".title" }, settle: "20s" }`;

/** A folder with a spider. Its handlers can use these promises to wait for each other. */
function spiderFolder(spider: string): string {
  const cwd = folderWith({
    "spider.ts": `
      import { defineSpider } from "trawl";
      let started = 0, allStarted, closed;
      const untilAllStarted = new Promise((resolve) => { allStarted = resolve; });
      const untilClosed = new Promise((resolve) => { closed = resolve; });
      export default defineSpider(${spider});`,
  });
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(fileURLToPath(new URL("../..", import.meta.url)), join(cwd, "node_modules/trawl"));
  return cwd;
}

describe.skipIf(CHROMIUM === undefined)("a crawl that renders", () => {
  it("reads content that scripts created, follows its links, and stores a screenshot and a PDF", async () => {
    const url = await scriptSite(3);
    const browser = { waitFor: { selector: ".title, a" }, settle: "20s", screenshot: "view", pdf: true };
    const job = { urls: [`${url}/`], render: "always", browser, follow: {}, extract: { title: ".title" } };
    const cwd = folderWith({ "job.json": { ...job, politeness: POLITENESS } });

    const end = await trawl(["crawl", "job.json", "--json", "--out", "out.jsonl"], { cwd });

    const summary = lastJson<Summary>(end);
    expectBalanced(summary.counts);
    expect(summary).toMatchObject({ state: "finished", counts: { done: 4, dead: 0 }, pages: 4 });
    const titles = jsonLines(readFileSync(join(cwd, "out.jsonl"), "utf8")).map(({ title }) => title);
    expect(titles.sort()).toEqual([titleOf(1), titleOf(2), titleOf(3), null].sort());
    const store = openSqliteStore(join(cwd, ".trawl/store.db"), { busyMs: 5_000 });
    const pages = await store.readPages(summary.id, 0, 10);
    await store.close();
    for (const { screenshotRef, pdfRef } of pages)
      expect([screenshotRef, pdfRef].map(isStoredIn(cwd))).toEqual([true, true]);
  });

  it("gives a spider's handler the open page", async () => {
    const url = await scriptSite(2);
    const spider = `
      import { defineSpider } from "trawl";
      export default defineSpider({
        name: "tabs", start: ["${url}/p/1"], render: "always", politeness: { rate: "unlimited", robots: false },
        browser: { waitFor: { selector: ".title" }, settle: "20s" },
        async page({ tab, emit }) {
          await tab!.evaluate(() => document.querySelector(".title")!.append(", seen"));
          emit({ title: await tab!.textContent(".title"), at: tab!.url() });
        },
      });`;
    const cwd = folderWith({ "spider.ts": spider });
    mkdirSync(join(cwd, "node_modules"));
    symlinkSync(fileURLToPath(new URL("../..", import.meta.url)), join(cwd, "node_modules/trawl"));

    const { stdout, code } = await trawl(["crawl", "spider.ts", "--quiet"], { cwd });

    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([{ title: `${titleOf(1)}, seen`, at: `${url}/p/1` }]);
  });

  it("protects the pages of other handlers from a handler that closes everything it can reach", async () => {
    const url = await scriptSite(4);
    const cwd = spiderFolder(`{
      name: "closer", start: [1, 2, 3, 4].map((nth) => "${url}/p/" + nth), ${TAB_KEYS},
      async page({ tab, emit, url }) {
        started += 1;
        if (started === 4) allStarted();
        await untilAllStarted;
        if (url.endsWith("/p/1")) {
          await tab.context().browser()?.close();
          await tab.context().close();
          closed();
        }
        await untilClosed;
        emit({ title: url.endsWith("/p/1") ? "closed" : await tab.textContent(".title") });
      },
    }`);

    const { stdout, code } = await trawl(["crawl", "spider.ts", "--quiet"], { cwd, env: { TRAWL_RETRIES: "0" } });

    const titles = jsonLines(stdout).map(({ title }) => title);
    expect([code, titles.sort()]).toEqual([0, [titleOf(2), titleOf(3), titleOf(4), "closed"].sort()]);
  });

  it("does not fail a handler whose browser crashes: its page is rendered again", async () => {
    const url = await scriptSite(3);
    const cwd = spiderFolder(`{
      name: "crashed", start: [1, 2, 3].map((nth) => "${url}/p/" + nth), ${TAB_KEYS}, retries: { max: 1, backoff: "10ms" },
      async page({ tab, emit, url }) {
        started += 1;
        if (started === 3) console.error("all handlers have started");
        if (started <= 3) await tab.waitForSelector(".never", { timeout: 0 });
        emit({ title: await tab.textContent(".title") });
      },
    }`);
    const crawl = startTrawl(["crawl", "spider.ts", "--json", "--out", "out.jsonl"], { cwd, env: { TMPDIR: cwd } });
    onTestFinished(() => void crawl.kill("SIGKILL"));
    await crawl.prints(/all handlers have started/);
    const folder = readdirSync(cwd).find((name) => name.startsWith("trawl-browser-")) ?? "";
    process.kill(-((await findGroup(join(cwd, folder))) ?? Number.NaN), "SIGKILL");

    expect(lastJson<Summary>(await crawl.ended)).toMatchObject({ state: "finished", counts: { done: 3, dead: 0 } });
    const titles = jsonLines(readFileSync(join(cwd, "out.jsonl"), "utf8")).map(({ title }) => title);
    expect(titles.sort()).toEqual([titleOf(1), titleOf(2), titleOf(3)].sort());
  });

  it("does not reach an address that is not allowed, whatever its page tries", async () => {
    const cleanups: (() => unknown)[] = [];
    onTestFinished(async () => {
      for (const cleanup of cleanups.reverse()) await cleanup();
    });
    const forbidden = await listenForbidden(cleanups);
    const allowed = await serveAllowed(cleanups, (own) => pageOf(own, `http://127.0.0.2:${forbidden.port}`));
    const browser = { waitFor: "idle", settle: "20s", block: [], requests: 1000 };
    const job = { urls: [`${allowed.origin}/`], render: "always", browser, politeness: POLITENESS };
    const cwd = folderWith({ "job.json": job });

    const end = await trawl(["crawl", "job.json", "--json", "--quiet"], { cwd });

    expect(lastJson<Summary>(end)).toMatchObject({ counts: { done: 1 }, pages: 1 });
    // Trawl blocks service workers.
    const unseen = Object.keys(REQUEST_KINDS).filter((name) => !allowed.seen.has(`/${name}`));
    expect(unseen.filter((name) => name !== "serviceWorker")).toEqual([]);
    expect(forbidden.arrivals).toEqual([]);
  });
});

describe.skipIf(CHROMIUM === undefined)("a crawl that renders only where needed", () => {
  it("renders a page that is empty without a browser, then all pages of its site, and no others", async () => {
    const scripted = await startScriptSite({ pages: 4 });
    const text = "a page that contains all its text ".repeat(20);
    const plain = await startOrigin({
      "/": `<h1 class="title">plain</h1><p>${text}</p><a href="/two">two</a><script src="/app.js"></script>`,
      "/two": `<h1 class="title">two</h1><p>${text}</p><script src="/app.js"></script>`,
    });
    onTestFinished(scripted.close);
    onTestFinished(plain.close);
    const browser = { waitFor: { selector: ".title, a" }, settle: "20s" };
    const job = { urls: [`${scripted.url}/`, `${plain.url}/`], render: "auto", browser, follow: {} };
    const cwd = folderWith({ "job.json": { ...job, extract: { title: ".title" }, politeness: POLITENESS } });

    const end = await trawl(["crawl", "job.json", "--json", "--out", "out.jsonl"], { cwd });

    const summary = lastJson<Summary>(end);
    expectBalanced(summary.counts);
    expect(summary).toMatchObject({ state: "finished", counts: { dead: 0, duplicate: expect.any(Number) }, pages: 7 });
    const records = jsonLines(readFileSync(join(cwd, "out.jsonl"), "utf8"));
    const found = records.map(({ _url, title }) => `${_url} ${title}`).sort();
    const shown = [1, 2, 3, 4].map((nth) => `${scripted.url}/p/${nth} ${titleOf(nth)}`);
    expect(found).toEqual([...shown, `${scripted.url}/ null`, `${plain.url}/ plain`, `${plain.url}/two two`].sort());
    const documents = scripted.log.map(({ path }) => path).filter((path) => !/app|api|robots/.test(path));
    expect(documents.sort()).toEqual(["/", "/", "/p/1", "/p/2", "/p/3", "/p/4"]);
    expect(plain.log.map(({ path }) => path).sort()).toEqual(["/", "/two"]);
  });
});

describe.skipIf(CHROMIUM === undefined)("a worker that renders", () => {
  it("reports a missing browser, fetches nothing, and loses nothing", async () => {
    const url = await scriptSite(1);
    const cwd = folderWith({ "job.json": { urls: [`${url}/p/1`], render: "always", politeness: POLITENESS } });
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_CHROMIUM: "/nowhere/chromium" };
    const { id } = lastJson<{ id: string }>(await trawl(["submit", "job.json", "--json"], { cwd, env }));

    const refused = await trawl(["worker", "--queues", "render", "--drain"], { cwd, env });
    const broken = await trawl(["worker", "--queues", "render", "--drain", "--pool", "solo"], {
      cwd,
      env: { ...env, TRAWL_CHROMIUM: "/bin/false" },
    });

    expect([refused.code, broken.code]).toEqual([3, 3]);
    expect(refused.stderr).toMatch(/BROWSER_UNAVAILABLE: .*TRAWL_CHROMIUM is \/nowhere\/chromium/);
    expect(broken.stderr).toMatch(/BROWSER_UNAVAILABLE: \/bin\/false did not start/);
    const { counts } = lastJson<Summary>(await trawl(["job", id, "--json"], { cwd }));
    expect(counts).toMatchObject({ queued: 1, dead: 0, done: 0 });
  });

  it("reports once why the browser does not start, retries with growing delays, and uses up no attempts", async () => {
    const url = await scriptSite(2);
    const urls = [`${url}/p/1`, `${url}/p/2`];
    const cwd = folderWith({ "job.json": { urls, render: "always", politeness: POLITENESS, retries: { max: 0 } } });
    const chromium = join(cwd, "broken-chromium");
    writeFileSync(chromium, "#!/bin/sh\necho libnss3.so: cannot open >&2\nexit 127\n", { mode: 0o755 });
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_CHROMIUM: chromium };
    const { id } = lastJson<{ id: string }>(await trawl(["submit", "job.json", "--json"], { cwd, env }));

    const worker = startTrawl(["worker", "--queues", "render"], { cwd, env });
    await worker.prints(/restarts in 1s.*restarts in 2s.*restarts in 4s/s);
    worker.kill("SIGINT");
    const stopped = await worker.ended;
    const drained = await trawl(["worker", "--queues", "render", "--drain"], { cwd, env });

    expect([stopped.code, drained.code]).toEqual([0, 3]);
    const message = `trawl: BROWSER_UNAVAILABLE: ${chromium} did not start: libnss3.so: cannot open; install Chromium`;
    for (const { stderr } of [stopped, drained]) expect(stderr.split(message)).toHaveLength(2);
    const { counts } = lastJson<Summary>(await trawl(["job", id, "--json"], { cwd }));
    expect(counts).toMatchObject({ queued: 2, dead: 0, done: 0 });
    const repaired = await trawl(["worker", "--queues", "render", "--drain"], {
      cwd,
      env: { ...env, TRAWL_CHROMIUM: "auto" },
    });
    expect([repaired.code, lastJson<Summary>(await trawl(["job", id, "--json"], { cwd })).counts.done]).toEqual([0, 2]);
  });

  it("renders every page while its processes are replaced repeatedly, and leaves no browser behind", async () => {
    const url = await scriptSite(9);
    const urls = Array.from({ length: 9 }, (_, nth) => `${url}/p/${nth + 1}`);
    const browser = { waitFor: { selector: ".title" }, settle: "30s" };
    const job = { urls, render: "always", browser, extract: { title: ".title" }, politeness: POLITENESS };
    const cwd = folderWith({ "job.json": job });
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_TABS: "2", TMPDIR: cwd };
    const browsers = watchIn(cwd);
    const { id } = lastJson<{ id: string }>(await trawl(["submit", "job.json", "--json"], { cwd, env }));

    const worker = ["worker", "--queues", "render", "--drain", "--max-tasks-per-child", "4"];
    const { code, stderr } = await trawl(worker, { cwd, env });

    expect(code).toBe(0);
    expect(stderr.match(/\(\d+\) started/g)?.length).toBeGreaterThan(2);
    const records = jsonLines((await trawl(["records", id], { cwd })).stdout);
    expect(records.map(({ title }) => title).sort()).toEqual(urls.map((_, nth) => titleOf(nth + 1)).sort());
    expect(browsers.lines()).toEqual([]);
    expect(readdirSync(cwd).filter((name) => name.startsWith("trawl-browser-"))).toEqual([]);
  });

  it.each(["SIGKILL", "SIGTERM"] as const)("leaves no process of its browser behind after %s", async (signal) => {
    const url = await scriptSite(1);
    const cwd = folderWith({ "job.json": { urls: [`${url}/loop`], render: "always", politeness: POLITENESS } });
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_GRACE: "100ms", TMPDIR: cwd };
    const browsers = watchIn(cwd);
    await trawl(["submit", "job.json"], { cwd, env });
    const worker = startTrawl(["worker", "--queues", "render", "--max-tasks-per-child", "20"], { cwd, env });
    onTestFinished(() => void worker.kill("SIGKILL"));
    expect(await waitUntil(() => browsers.lines().some((line) => line.includes("--type=renderer")), 30_000)).toBe(true);

    worker.kill(signal);
    await worker.ended;

    expect(await waitUntil(() => browsers.lines().length === 0, 20_000)).toBe(true);
    expect(readdirSync(cwd).filter((name) => name.startsWith("trawl-browser-"))).toEqual([]);
  });
});

function isStoredIn(cwd: string): (ref: string | undefined) => boolean {
  return (ref) => {
    const hex = ref?.slice("sha256:".length) ?? "";
    return readFileSync(join(cwd, ".trawl/bodies", hex.slice(0, 2), hex.slice(2, 4), `${hex}.gz`)).length > 0;
  };
}

/** Watches every browser whose profile is in the folder. */
function watchIn(folder: string): BrowserWatch {
  const watch = watchBrowsers(join(folder, "trawl-browser-"));
  onTestFinished(watch.stop);
  return watch;
}
