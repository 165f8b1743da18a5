/** Starts one Chromium behind a filter proxy of its own, in a folder of its own, watched over by a watchdog. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Browser } from "playwright-core";
import { TrawlError } from "../../errors.ts";
import { oneLine } from "../../runtime/one-line.ts";
import { type FilterProxy, startFilterProxy } from "../egress/filter-proxy.ts";
import type { EgressGate } from "../egress/gate.ts";
import { chromiumFlags } from "./chromium-flags.ts";
import { startWatchdog, startWords } from "./watchdog.ts";

export type LaunchOptions = {
  /** Chromium's path, such as /usr/bin/chromium. */
  executablePath: string;
  /** Chromium's own sandbox. Does not work for root, nor in containers that forbid user namespaces. */
  hasSandbox: boolean;
  launchMs: number;
};

export type LaunchedBrowser = {
  browser: Browser;
  proxy: Pick<FilterProxy, "admit" | "counts" | "url" | "welcomeUrl">;
  /** Holds the profile; its path is on the command line of the first process of this browser. */
  folder: string;
  /** Ends every process of it, whatever state they are in; never throws. Twice is harmless. */
  end(): Promise<void>;
};

/** Fails with BROWSER_UNAVAILABLE, soon after an abort as well. */
export async function launchBrowser(
  gate: EgressGate,
  options: LaunchOptions,
  signal: AbortSignal,
): Promise<LaunchedBrowser> {
  const undo: (() => Promise<void>)[] = [];
  const end = async (): Promise<void> => {
    // No goodbye to Chromium: the profile is thrown away, and a browser that hangs would not listen.
    await Promise.all(undo.map((step) => step()));
  };
  // A browser that is killed while it starts fails to start: that is waited for below.
  const onAbort = (): void => void end();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    // In one go with starting the watchdog: a page that kills this process in between would leave the folder.
    const folder = mkdtempSync(join(tmpdir(), "trawl-browser-"));
    const watchdog = await startWatchdog(folder).catch(async (cause: unknown) => {
      await rm(folder, { recursive: true, force: true });
      throw cause;
    });
    undo.push(() => watchdog.end());
    const proxy = await startFilterProxy(gate);
    undo.push(() => proxy.close());
    signal.throwIfAborted(); // before there was anything to end
    const browser = await start(folder, proxy, options);
    return { browser, proxy, folder, end };
  } catch (cause) {
    await end();
    throw unavailable(cause, options);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function start(
  folder: string,
  { url, username, password }: FilterProxy,
  { executablePath, hasSandbox, launchMs }: LaunchOptions,
): Promise<Browser> {
  // Takes a while to load, and most processes never need it. Not by import(): on Node 20 that fails for packages of its
  // kind wherever a loader for TypeScript is registered.
  const { chromium }: typeof import("playwright-core") = createRequire(import.meta.url)("playwright-core");
  const flags = chromiumFlags({ profileFolder: join(folder, "profile"), proxyUrl: url, hasSandbox });
  return chromium.launch({
    executablePath: "/bin/sh",
    artifactsDir: folder,
    args: [...startWords(folder, executablePath, flags)],
    ignoreDefaultArgs: true,
    // Not on the command line, where everybody can read it: the browser is told when the proxy asks.
    proxy: { server: url, username, password },
    // Pages must not find our secrets in the memory of the process that runs them.
    env: { HOME: folder, TMPDIR: folder, PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" },
    timeout: launchMs,
    // Only the command line listens to signals.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

function unavailable(cause: unknown, { executablePath, hasSandbox }: LaunchOptions): TrawlError {
  const words = ownWords(cause instanceof Error ? cause.message : String(cause));
  return new TrawlError("BROWSER_UNAVAILABLE", {
    op: "browser.launch",
    message: `${executablePath} did not start: ${words}; install Chromium there, or name another in TRAWL_CHROMIUM`,
    detail: { executablePath, hasSandbox },
    cause,
  });
}

/** What Chromium itself said, such as which library is missing; Playwright's words around it are long. */
function ownWords(message: string): string {
  const plain = stripVTControlCharacters(message);
  // Playwright repeats it, in its log and in its summary.
  const said = new Set([...plain.matchAll(/\[err\] (.+)/g)].map(([, line = ""]) => line.trim()));
  const words = said.size > 0 ? [...said].join(" ") : (plain.split("\n", 1)[0] ?? "");
  return oneLine(words);
}
