/** Checks with real processes that browsers end in time and never outlive the process that started them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { PLAIN_BROWSER } from "../../src/domain/browser.ts";
import { type BrowserKeeper, createBrowserKeeper } from "../../src/fetch/browser/browser-keeper.ts";
import { type LaunchedBrowser, launchBrowser } from "../../src/fetch/browser/launch-browser.ts";
import { renderPage } from "../../src/fetch/browser/render-page.ts";
import { createEgressGate } from "../../src/fetch/egress/gate.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";
import { pageText, requestFor, UNPACED } from "../contracts/fetcher/harness.ts";
import { newFolder } from "../e2e/folder.ts";
import { waitUntil } from "../services/wait-until.ts";
import { startOrigin } from "../site/origin.ts";
import { CHROMIUM, LAUNCH, openBrowserFetcher } from "./chromium.ts";
import { findGroup, processesIn, watchBrowsers } from "./processes.ts";

const NEVER = new AbortController().signal;
const gate = createEgressGate({}, { allowNetworks: [], allowHosts: [], connectMs: 5_000 });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.skipIf(CHROMIUM === undefined || !existsSync("/proc/self/cmdline"))("the processes of a browser", () => {
  it.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
    "end when our process ends because of %s, and leave no folder",
    async (signal) => {
      const script = fileURLToPath(new URL("hold-browser.ts", import.meta.url));
      const holder = spawn(process.execPath, ["--import", "jiti/register", script, LAUNCH.executablePath]);
      cleanups.push(() => holder.kill("SIGKILL"));
      const folder = String((await once(holder.stdout, "data"))[0]).trim();
      const browser = watchBrowsers(folder);
      cleanups.push(browser.stop);
      expect(browser.lines().length).toBeGreaterThan(3);

      holder.kill(signal);
      await once(holder, "exit");

      expect(await waitUntil(() => browser.lines().length === 0 && !existsSync(folder), 10_000)).toBe(true);
    },
  );

  it("end at once when the browser is closed", async () => {
    const launched = await launchBrowser(gate, LAUNCH, NEVER);
    await launched.browser.newPage();
    const browser = watchBrowsers(launched.folder);
    cleanups.push(browser.stop);
    expect(browser.lines().length).toBeGreaterThan(3);

    await launched.end();
    await launched.end();

    expect(await waitUntil(() => browser.lines().length === 0, 5_000)).toBe(true);
    expect(existsSync(launched.folder)).toBe(false);
  });
});

describe.skipIf(CHROMIUM === undefined || !existsSync("/proc/self/cmdline"))("a page that crashes", () => {
  it.each([
    ["alone", "--type=renderer"],
    ["with its whole browser", "--user-data-dir"],
  ])("is reported as crashed when it crashes %s", async (_, victim) => {
    const launched = await launchBrowser(gate, LAUNCH, NEVER);
    cleanups.push(launched.end);
    const context = await launched.browser.newContext();
    const body = Buffer.from("<title>busy</title><script>for (;;);</script>");
    const document = {
      url: "http://a.test/",
      status: 200,
      headers: { "content-type": "text/html" },
      body,
      ownHeaders: {},
    };

    const rendering = renderPage(context, { welcomeUrl: launched.proxy.welcomeUrl, document }, PLAIN_BROWSER);
    const shown = () => context.pages().some((page) => page.url() === document.url);
    expect(await waitUntil(shown, 10_000)).toBe(true);
    const group = await findGroup(launched.folder);
    const victims = processesIn(group).filter(({ line }) => line.includes(victim));
    for (const { pid } of victims) process.kill(pid, "SIGKILL");

    expect(victims).not.toHaveLength(0);
    expect(await rendering).toMatchObject({ kind: "crashed" });
  });
});

describe.skipIf(CHROMIUM === undefined)("a page whose browser crashes", () => {
  it("is rendered once more, alone, and does not fail", async () => {
    const folders: string[] = [];
    const log = createLog("info", (line) => {
      const { event, folder } = JSON.parse(line);
      if (event === "browser.started") folders.push(folder);
    });
    let requests = 0;
    const site = await startOrigin({
      "/": "<p>there</p><script src=/s.js></script>",
      "/s.js": (_, response) => {
        requests += 1;
        if (requests > 1) response.end("document.body.append('and done')");
      },
    });
    cleanups.push(site.close);
    const fetcher = openBrowserFetcher(
      { settleMs: 20_000 },
      {},
      log,
    )({
      allowance: UNPACED,
      clock: systemClock(),
    });
    cleanups.push(fetcher.close);

    const fetching = fetcher.fetch(requestFor(`${site.url}/`));
    expect(await waitUntil(() => requests === 1, 20_000)).toBe(true);
    process.kill(-((await findGroup(folders[0] ?? "")) ?? Number.NaN), "SIGKILL");

    expect(pageText(await fetching)).toContain("and done");
    expect([folders.length, site.log.filter(({ path }) => path === "/").length]).toEqual([2, 1]);
  });
});

describe.skipIf(CHROMIUM === undefined)("the browser keeper", () => {
  async function show(keeper: BrowserKeeper): Promise<LaunchedBrowser> {
    const { context, launched, close } = await keeper.open({}, { bytes: Number.POSITIVE_INFINITY });
    await (await context.newPage()).setContent("<p>here</p>");
    await close();
    return launched;
  }

  it("starts one browser for any number of pages, and starts it with the first page", async () => {
    const { keeper, launches } = keep(100);
    expect(launches).toHaveLength(0);

    const browsers = await Promise.all([show(keeper), show(keeper), show(keeper)]);

    expect([launches.length, new Set(browsers).size]).toEqual([1, 1]);
    expect(browsers[0]?.browser.contexts()).toEqual([]);
  });

  it("starts a new browser after a number of pages, and ends the old one", async () => {
    const { keeper, launches } = keep(2);
    const browsers: LaunchedBrowser[] = [];
    for (let n = 0; n < 3; n++) browsers.push(await show(keeper));

    expect([launches.length, browsers[0] === browsers[1], browsers[1] === browsers[2]]).toEqual([2, true, false]);
    expect(await waitUntil(() => !existsSync(browsers[0]?.folder ?? ""), 10_000)).toBe(true);
  });

  it("starts another browser after a crash", async () => {
    const { keeper, launches } = keep(100);
    const { browser, folder } = await show(keeper);
    const group = await findGroup(folder);
    const gone = once(browser as never, "disconnected");
    process.kill(-(group ?? Number.NaN), "SIGKILL");
    await gone;

    await show(keeper);

    expect(launches).toHaveLength(2);
  });

  it("ends a starting browser at once when it closes, and starts no other browser", async () => {
    const folder = newFolder();
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const executablePath = join(folder, "never-ready");
    writeFileSync(executablePath, "#!/bin/sh\nsleep 600\n", { mode: 0o755 });
    const { keeper, launches } = keep(100, { ...LAUNCH, executablePath, launchMs: 600_000 });
    const browser = watchBrowsers(join(folder, "trawl-browser-"));
    cleanups.push(browser.stop);
    const warming = expect(keeper.warm()).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
    expect(await waitUntil(() => browser.lines().some((line) => line.startsWith("sleep")), 20_000)).toBe(true);

    await keeper.close();

    await warming;
    await expect(show(keeper)).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
    expect(launches).toHaveLength(1);
    expect(await waitUntil(() => browser.lines().length === 0, 10_000)).toBe(true);
  });

  it("reports a missing browser", async () => {
    const options = { ...LAUNCH, executablePath: "/nowhere/chromium" };

    await expect(launchBrowser(gate, options, NEVER)).rejects.toMatchObject({
      code: "BROWSER_UNAVAILABLE",
      message: expect.stringContaining("/nowhere/chromium"),
    });
  });

  it("reports a missing temporary folder", async () => {
    vi.stubEnv("TMPDIR", join(tmpdir(), "not-there"));
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(launchBrowser(gate, LAUNCH, NEVER)).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
  });
});

function keep(pagesPerBrowser: number, options = LAUNCH) {
  const launches: Promise<LaunchedBrowser>[] = [];
  const launch = (signal: AbortSignal) => {
    const launched = launchBrowser(gate, options, signal);
    launches.push(launched);
    return launched;
  };
  const keeper = createBrowserKeeper(
    { launch, log: createLog("silent", () => {}) },
    { pagesPerBrowser, closeMs: 5_000, launchMs: options.launchMs },
  );
  cleanups.push(keeper.close);
  return { keeper, launches };
}
