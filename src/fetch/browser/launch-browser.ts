/** Starts one Chromium with its own filter proxy, its own folder and a watchdog. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Browser } from "playwright-core";
import { TrawlError } from "../../errors.ts";
import { shortMessage } from "../../runtime/short-message.ts";
import { type FilterProxy, startFilterProxy } from "../egress/filter-proxy.ts";
import type { EgressGate } from "../egress/gate.ts";
import { chromiumFlags } from "./chromium-flags.ts";
import { shellArguments, startWatchdog } from "./watchdog.ts";

export type LaunchOptions = {
  /** Chromium's path, such as /usr/bin/chromium. */
  executablePath: string;
  /** Chromium's own sandbox. It does not work for root, and not in containers that forbid user namespaces. */
  hasSandbox: boolean;
  launchMs: number;
};

export type LaunchedBrowser = {
  browser: Browser;
  proxy: Pick<FilterProxy, "admit" | "counts" | "url" | "welcomeUrl">;
  /** The profile folder. Its path is on the command line of the browser's main process. */
  folder: string;
  /** Ends all processes of the browser in any state. Never throws. A second call has no effect. */
  end(): Promise<void>;
};

/** Starts a browser. Rejects with BROWSER_UNAVAILABLE if it cannot be started, and soon after an abort. */
export async function launchBrowser(
  gate: EgressGate,
  options: LaunchOptions,
  signal: AbortSignal,
): Promise<LaunchedBrowser> {
  const undo: (() => Promise<void>)[] = [];
  const end = async (): Promise<void> => {
    // Chromium is killed: its profile is discarded, and a hanging browser would not react to a graceful shutdown.
    await Promise.all(undo.map((step) => step()));
  };
  // If the browser is killed while it starts, `start` below rejects.
  const onAbort = (): void => void end();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    // The folder is created synchronously, right before the watchdog: a crash in between would leave the folder behind.
    const folder = mkdtempSync(join(tmpdir(), "trawl-browser-"));
    const watchdog = await startWatchdog(folder).catch(async (cause: unknown) => {
      await rm(folder, { recursive: true, force: true });
      throw cause;
    });
    undo.push(() => watchdog.end());
    const proxy = await startFilterProxy(gate);
    undo.push(() => proxy.close());
    signal.throwIfAborted(); // `onAbort` had nothing to end if the abort was before this line
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
  // The package is loaded here because it is slow to load and most processes never need it. `import()` is not used: on
  // Node 20 it fails for this kind of package if a TypeScript loader is registered.
  const { chromium }: typeof import("playwright-core") = createRequire(import.meta.url)("playwright-core");
  const flags = chromiumFlags({ profileFolder: join(folder, "profile"), proxyUrl: url, hasSandbox });
  return chromium.launch({
    executablePath: "/bin/sh",
    artifactsDir: folder,
    args: [...shellArguments(folder, executablePath, flags)],
    ignoreDefaultArgs: true,
    // Other users can read the command line, so it does not contain the credentials. The browser sends them on request.
    proxy: { server: url, username, password },
    // The environment of this process must not be readable in the memory of the renderer.
    env: { HOME: folder, TMPDIR: folder, PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" },
    timeout: launchMs,
    // Only the CLI handles signals.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

function unavailable(cause: unknown, { executablePath, hasSandbox }: LaunchOptions): TrawlError {
  const reason = chromiumMessage(cause instanceof Error ? cause.message : String(cause));
  return new TrawlError("BROWSER_UNAVAILABLE", {
    op: "browser.launch",
    message: `${executablePath} did not start: ${reason}; install Chromium there, or set another path in TRAWL_CHROMIUM`,
    detail: { executablePath, hasSandbox },
    cause,
  });
}

/** Chromium's own message, e.g. a missing library, without Playwright's long text around it. */
function chromiumMessage(message: string): string {
  const plain = stripVTControlCharacters(message);
  // Playwright repeats each line in its log and in its summary.
  const lines = new Set([...plain.matchAll(/\[err\] (.+)/g)].map(([, line = ""]) => line.trim()));
  const text = lines.size > 0 ? [...lines].join(" ") : (plain.split("\n", 1)[0] ?? "");
  return shortMessage(text);
}
