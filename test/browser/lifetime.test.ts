/** Browsers end when they should, and never outlive who started them. Looks at real processes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { PLAIN_BROWSER } from "../../src/domain/browser.ts";
import { type BrowserKeeper, createBrowserKeeper } from "../../src/fetch/browser/browser-keeper.ts";
import { type LaunchedBrowser, launchBrowser } from "../../src/fetch/browser/launch-browser.ts";
import { renderPage } from "../../src/fetch/browser/render-page.ts";
import { findGroup } from "../../src/fetch/browser/watchdog.ts";
import { createEgressGate } from "../../src/fetch/egress/gate.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";
import { ANY_TIME, pageText, requestFor } from "../contracts/fetcher/harness.ts";
import { waitUntil } from "../services/wait-until.ts";
import { startOrigin } from "../site/origin.ts";
import { CHROMIUM, LAUNCH, openBrowserFetcher } from "./chromium.ts";

const gate = createEgressGate({}, { allowNetworks: [], allowHosts: [], connectMs: 5_000 });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.skipIf(CHROMIUM === undefined || !existsSync("/proc/self/cmdline"))("the processes of a browser", () => {
  it.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
    "end when ours ends by %s, and leave no folder",
    async (signal) => {
      const script = fileURLToPath(new URL("hold-browser.ts", import.meta.url));
      const holder = spawn(process.execPath, ["--import", "jiti/register", script, LAUNCH.executablePath]);
      cleanups.push(() => holder.kill("SIGKILL"));
      const folder = String((await once(holder.stdout, "data"))[0]).trim();
      expect(processesOf(folder).length).toBeGreaterThan(2);

      holder.kill(signal);
      await once(holder, "exit");

      expect(await waitUntil(() => processesOf(folder).length === 0 && !existsSync(folder), 10_000)).toBe(true);
    },
  );

  it("end when the browser is ended, at once and for good", async () => {
    const launched = await launchBrowser(gate, LAUNCH);
    await launched.browser.newPage();

    await launched.end();
    await launched.end();

    expect(await waitUntil(() => processesOf(launched.folder).length === 0, 5_000)).toBe(true);
    expect(existsSync(launched.folder)).toBe(false);
  });
});

describe.skipIf(CHROMIUM === undefined || !existsSync("/proc/self/cmdline"))("a page that crashes", () => {
  it.each([
    ["alone", "--type=renderer"],
    ["with its whole browser", "--user-data-dir"],
  ])("is a failed rendering when it crashes %s", async (_, victim) => {
    const launched = await launchBrowser(gate, LAUNCH);
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
    const victims = processesIn(group).filter((pid) => commandLine(pid).includes(victim));
    for (const pid of victims) process.kill(Number(pid), "SIGKILL");

    expect(victims).not.toHaveLength(0);
    expect(await rendering).toMatchObject({ kind: "crashed" });
  });
});

describe.skipIf(CHROMIUM === undefined)("a page whose browser goes away under it", () => {
  it("is shown once more, alone, and is not blamed", async () => {
    const folders: string[] = [];
    const log = createLog("info", (line) => {
      const { event, folder } = JSON.parse(line);
      if (event === "browser.started") folders.push(folder);
    });
    let asked = 0;
    const site = await startOrigin({
      "/": "<p>there</p><script src=/s.js></script>",
      "/s.js": (_, response) => {
        asked += 1;
        if (asked > 1) response.end("document.body.append('and done')");
      },
    });
    cleanups.push(site.close);
    const fetcher = openBrowserFetcher(
      { settleMs: 20_000 },
      {},
      log,
    )({
      allowance: { spend: async () => ANY_TIME },
      clock: systemClock(),
    });
    cleanups.push(fetcher.close);

    const fetching = fetcher.fetch(requestFor(`${site.url}/`));
    expect(await waitUntil(() => asked === 1, 20_000)).toBe(true);
    process.kill(-((await findGroup(folders[0] ?? "")) ?? Number.NaN), "SIGKILL");

    expect(pageText(await fetching)).toContain("and done");
    expect([folders.length, site.log.filter(({ path }) => path === "/").length]).toEqual([2, 1]);
  });
});

describe.skipIf(CHROMIUM === undefined)("the keeper of browsers", () => {
  const show = (keeper: BrowserKeeper) =>
    keeper.withContext({}, async (context, launched) => {
      await (await context.newPage()).setContent("<p>here</p>");
      return launched;
    });

  it("starts one browser however many pages come at once, and none before", async () => {
    const { keeper, launches } = keep(100);
    expect(launches).toHaveLength(0);

    const browsers = await Promise.all([show(keeper), show(keeper), show(keeper)]);

    expect([launches.length, new Set(browsers).size]).toEqual([1, 1]);
    expect(browsers[0]?.browser.contexts()).toEqual([]);
  });

  it("closes the context of work that fails", async () => {
    const { keeper } = keep(100);
    const { browser } = await show(keeper);

    await expect(keeper.withContext({}, () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");

    expect(browser.contexts()).toEqual([]);
  });

  it("takes a new browser after so many pages, and ends the old one", async () => {
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

  it("says what is missing when there is no browser", async () => {
    const options = { ...LAUNCH, executablePath: "/nowhere/chromium" };

    await expect(launchBrowser(gate, options)).rejects.toMatchObject({
      code: "BROWSER_UNAVAILABLE",
      message: expect.stringContaining("/nowhere/chromium"),
    });
  });

  it("is told as well where there is no room for what it needs", async () => {
    vi.stubEnv("TMPDIR", join(tmpdir(), "not-there"));
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(launchBrowser(gate, LAUNCH)).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
  });
});

function keep(pagesPerBrowser: number) {
  const launches: Promise<LaunchedBrowser>[] = [];
  const launch = () => {
    const launched = launchBrowser(gate, LAUNCH);
    launches.push(launched);
    return launched;
  };
  const keeper = createBrowserKeeper(
    { launch, log: createLog("silent", () => {}) },
    { pagesPerBrowser, closeMs: 5_000, launchMs: 30_000 },
  );
  cleanups.push(keeper.close);
  return { keeper, launches };
}

/** Every process that has the folder on its command line; one that has ended has no command line any more. */
function processesOf(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(folder));
}

function processesIn(group: number | undefined): string[] {
  const groupOf = (pid: string) =>
    readOf(pid, "stat")
      .replace(/^.*\) /s, "")
      .split(" ")[2];
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && groupOf(pid) === String(group));
}

function commandLine(pid: string): string {
  return readOf(pid, "cmdline");
}

function readOf(pid: string, file: "cmdline" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // it has ended meanwhile
  }
}
