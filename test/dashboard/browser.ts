/** A real Chromium that looks at the dashboard, and keeps account of everything that went wrong in it. */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { LAUNCH } from "../browser/chromium.ts";

// Imported, it cannot be loaded by jiti, which scripts run these files with.
const { chromium } = createRequire(import.meta.url)("playwright-core") as typeof import("playwright-core");

export type Theme = "light" | "dark";

export type ViewerOptions = {
  theme?: Theme;
  width?: number;
  height?: number;
  /** Signed in with it from the beginning, as after a sign-in in this tab. */
  key?: string;
  /** For tools that put a script of their own into the page, and for these alone. */
  bypassCsp?: boolean;
};

/** What a page must never make happen; each in words. */
export type Troubles = {
  /** Of the page's own scripts: errors and warnings on the console, and what nobody caught. */
  errors: string[];
  /** Of the Content-Security-Policy, with the directive and what was blocked. */
  violations: string[];
  /** alert, confirm, prompt. */
  dialogs: string[];
  /** Answers of 400 and above, and requests without one: a server that is away, or that has said no. */
  refused: string[];
};

export type Viewer = {
  page: Page;
  troubles: Troubles;
  /** A picture of what is to be seen, or of the whole page, in `folder`; answers with the file. */
  shoot(folder: string, name: string, options?: { whole?: boolean }): Promise<string>;
  close(): Promise<void>;
};

export type Viewers = {
  /** In a context of its own, as somebody else's browser: nothing is kept from one to the next. */
  open(options?: ViewerOptions): Promise<Viewer>;
  close(): Promise<void>;
};

const HEIGHTS = { phone: 844, desk: 900 };
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
  const { height = width < PHONE_WIDTH ? HEIGHTS.phone : HEIGHTS.desk } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
    bypassCSP: bypassCsp,
    ...{ locale: "en-GB", timezoneId: "UTC", hasTouch: width < PHONE_WIDTH },
  });
  const troubles = await watch(context);
  if (options.key !== undefined) await context.addInitScript(keepKey(options.key));
  const page = await context.newPage();
  return {
    page,
    troubles,
    async shoot(folder, name, { whole = false } = {}) {
      const path = join(folder, `${name}.png`);
      await page.screenshot({ path, fullPage: whole, animations: "disabled", caret: "hide" });
      return path;
    },
    close: () => context.close(),
  };
}

async function watch(context: BrowserContext): Promise<Troubles> {
  const troubles: Troubles = { errors: [], violations: [], dialogs: [], refused: [] };
  context.on("console", (message) => {
    const [kind, words] = [message.type(), message.text()];
    // The browser's own word on an answer that is not a good one: noted below, with its status.
    if (words.startsWith("Failed to load resource")) return;
    if (kind === "error" || kind === "warning") troubles.errors.push(`${kind}: ${words}`);
  });
  context.on("weberror", (error) => void troubles.errors.push(`uncaught: ${error.error().stack ?? error.error()}`));
  context.on("dialog", (dialog) => {
    troubles.dialogs.push(`${dialog.type()}: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("response", (response) => {
    if (response.status() >= 400)
      troubles.refused.push(`${response.status()} ${response.request().method()} ${response.url()}`);
  });
  context.on("requestfailed", (request) => {
    const because = request.failure()?.errorText ?? "";
    // The page itself has let go of it: another page was opened, or a stream is closed.
    if (because !== "net::ERR_ABORTED") troubles.refused.push(`${because} ${request.method()} ${request.url()}`);
  });
  await context.exposeBinding("tellViolation", (_, words: string) => void troubles.violations.push(words));
  await context.addInitScript({ path: inPage("tell-violations") });
  return troubles;
}

function keepKey(key: string): { content: string } {
  return {
    content: `if (location.protocol.startsWith("http")) sessionStorage.setItem("trawl-key", ${JSON.stringify(key)})`,
  };
}

/** A script that runs in the page, where there is a document. */
export function inPage(name: string): string {
  return join(import.meta.dirname, "in-page", `${name}.js`);
}
