/** Opens the dashboard in a real Chromium and records everything that goes wrong. */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { LAUNCH } from "../browser/chromium.ts";

// Loaded with require, because jiti, which scripts use to load this file, cannot import it.
const { chromium } = createRequire(import.meta.url)("playwright-core") as typeof import("playwright-core");

export type Theme = "light" | "dark";

export type ViewerOptions = {
  theme?: Theme;
  width?: number;
  height?: number;
  /** Signs in with this key from the start. */
  key?: string;
  /** Only for tools that inject a script into the page. */
  bypassCsp?: boolean;
};

/** Messages about things that a page must never cause. */
export type Problems = {
  /** Console errors and warnings, and uncaught exceptions. */
  errors: string[];
  /** Violations of the Content-Security-Policy. */
  violations: string[];
  /** alert, confirm, prompt. */
  dialogs: string[];
  /** Responses with status 400 and above, and failed requests. */
  refused: string[];
};

export type Viewer = {
  page: Page;
  problems: Problems;
  /** Saves a screenshot of the viewport, or of the whole page, in `folder`. Resolves with the file name. */
  screenshot(folder: string, name: string, options?: { whole?: boolean }): Promise<string>;
  close(): Promise<void>;
};

export type Viewers = {
  /** Opens a new browser context, which shares no storage with other contexts. */
  open(options?: ViewerOptions): Promise<Viewer>;
  close(): Promise<void>;
};

const HEIGHTS = { phone: 844, desktop: 900 };
const PHONE_WIDTH = 600;

export async function openViewers(): Promise<Viewers> {
  const browser = await chromium.launch({
    executablePath: LAUNCH.executablePath,
    args: [...(LAUNCH.hasSandbox ? [] : ["--no-sandbox"]), "--font-render-hinting=none", "--disable-lcd-text"],
  });
  return { open: (options = {}) => openViewer(browser, options), close: () => browser.close() };
}

async function openViewer(browser: Browser, options: ViewerOptions): Promise<Viewer> {
  const { theme = "light", width = 1440, bypassCsp = false } = options;
  const { height = width < PHONE_WIDTH ? HEIGHTS.phone : HEIGHTS.desktop } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
    bypassCSP: bypassCsp,
    ...{ locale: "en-GB", timezoneId: "UTC", hasTouch: width < PHONE_WIDTH },
  });
  const problems = await watch(context);
  if (options.key !== undefined) await context.addInitScript(storeKey(options.key));
  const page = await context.newPage();
  return {
    page,
    problems,
    async screenshot(folder, name, { whole = false } = {}) {
      const path = join(folder, `${name}.png`);
      await page.screenshot({ path, fullPage: whole, animations: "disabled", caret: "hide" });
      return path;
    },
    close: () => context.close(),
  };
}

async function watch(context: BrowserContext): Promise<Problems> {
  const problems: Problems = { errors: [], violations: [], dialogs: [], refused: [] };
  context.on("console", (message) => {
    const [kind, text] = [message.type(), message.text()];
    // The browser reports failed responses on the console; they are recorded below with their status.
    if (text.startsWith("Failed to load resource")) return;
    if (kind === "error" || kind === "warning") problems.errors.push(`${kind}: ${text}`);
  });
  context.on("weberror", (error) => void problems.errors.push(`uncaught: ${error.error().stack ?? error.error()}`));
  context.on("dialog", (dialog) => {
    problems.dialogs.push(`${dialog.type()}: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("response", (response) => {
    if (response.status() >= 400)
      problems.refused.push(`${response.status()} ${response.request().method()} ${response.url()}`);
  });
  context.on("requestfailed", (request) => {
    const because = request.failure()?.errorText ?? "";
    // The page itself aborts requests, for example when it navigates.
    if (because !== "net::ERR_ABORTED") problems.refused.push(`${because} ${request.method()} ${request.url()}`);
  });
  await context.exposeBinding("reportViolation", (_, message: string) => void problems.violations.push(message));
  await context.addInitScript({ path: inPage("report-violations") });
  return problems;
}

function storeKey(key: string): { content: string } {
  return {
    content: `if (location.protocol.startsWith("http")) sessionStorage.setItem("trawl-key", ${JSON.stringify(key)})`,
  };
}

/** The path of a script that runs inside the page. */
export function inPage(name: string): string {
  return join(import.meta.dirname, "in-page", `${name}.js`);
}
