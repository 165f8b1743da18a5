/** Shows one document in a browser's context, waits until it is worth reading, and reads it. */

import type { BrowserContext, CDPSession, Request, Route, Page as Tab } from "playwright-core";
import type { BrowserSpec, ResourceType } from "../../domain/browser.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import type { Pictures } from "../fetcher.ts";
import { sendOwnHeaders } from "./own-headers.ts";
import { createPageWorld } from "./page-world.ts";
import { settlePage } from "./settle-page.ts";
import { shortWords } from "./short-words.ts";

/** What the site answered, to be shown under the URL it was asked for. */
export type ShownDocument = {
  url: string;
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Sent with what the page asks its own origin for. */
  ownHeaders: Readonly<Record<string, string>>;
};

export type Rendering =
  | { kind: "rendered"; html: string; pictures: Pictures; tab: Tab }
  /** The page itself went elsewhere: a script, a meta element or a header did it. */
  | { kind: "left"; to: string }
  | { kind: "timeout"; detail: string }
  | { kind: "crashed"; detail: string };

type Showing = { welcomeUrl: string; document: ShownDocument };
type Settle = (rendering: Rendering) => void;

/** Never throws for what the page does; may never settle by itself, so the caller keeps the time. */
export function renderPage(context: BrowserContext, showing: Showing, spec: BrowserSpec): Promise<Rendering> {
  return new Promise((settle) => {
    show(context, showing, spec, settle).then(settle, (error: unknown) => settle(failed(error)));
  });
}

async function show(
  context: BrowserContext,
  { welcomeUrl, document }: Showing,
  spec: BrowserSpec,
  settle: Settle,
): Promise<Rendering> {
  const tab = await context.newPage();
  tab.on("crash", () => settle({ kind: "crashed", detail: "the page crashed" }));
  tab.on("close", () => settle({ kind: "crashed", detail: "the browser closed the page" }));
  tab.on("dialog", (dialog) => dialog.dismiss().catch(ignoreGone));
  context.on("page", (popup) => void popup.close().catch(ignoreGone));
  const session = await context.newCDPSession(tab);
  await greet(session, welcomeUrl);
  await sendOwnHeaders(tab, document.ownHeaders, hasOriginOf(document.url));
  await context.route("**/*", createRouting(tab, document, spec, settle));
  await tab.goto(document.url, { waitUntil: "commit", timeout: 0 });
  await tab.waitForLoadState("domcontentloaded", { timeout: 0 });
  const world = createPageWorld(session);
  const lack = await settlePage({ tab, world }, spec);
  if (lack !== undefined) return { kind: "timeout", detail: lack };
  return { kind: "rendered", html: await world.html(), pictures: await picturesOf(tab, spec), tab };
}

/**
 * So that the proxy's secret is known to everything this context opens. Asked for by the empty page, and not shown: to
 * show it would take a renderer process of its own.
 */
async function greet(session: CDPSession, welcomeUrl: string): Promise<void> {
  const expression = `fetch(${JSON.stringify(welcomeUrl)}, { mode: "no-cors" })`;
  const { exceptionDetails } = await session.send("Runtime.evaluate", { expression, awaitPromise: true });
  if (exceptionDetails !== undefined) throw new Error("the filter proxy did not answer the browser");
}

async function picturesOf(tab: Tab, { screenshot, pdf }: BrowserSpec): Promise<Pictures> {
  return {
    ...(screenshot === "none"
      ? {}
      : { screenshot: await tab.screenshot({ fullPage: screenshot === "page", timeout: 0 }) }),
    ...(pdf ? { pdf: await tab.pdf({ printBackground: true }) } : {}),
  };
}

/** What becomes of each request of the page. Redirect hops do not come by here: the filter proxy sees those. */
function createRouting(
  tab: Tab,
  document: ShownDocument,
  { block, requests }: BrowserSpec,
  settle: Settle,
): (route: Route, request: Request) => Promise<void> {
  let isShown = false;
  let asked = 0;

  function decide(route: Route, request: Request): Promise<void> {
    if (!request.isNavigationRequest()) {
      return block.includes(request.resourceType() as ResourceType) ? route.abort("blockedbyclient") : ask(route);
    }
    // A window that has just been opened has no frame yet, and is not wanted.
    const frame = frameOf(request);
    if (frame === undefined || frame.page() !== tab) return route.abort("aborted");
    if (frame !== tab.mainFrame()) return ask(route);
    if (isShown) return leave(route, request);
    isShown = true;
    const { status, headers, body } = document;
    // A document that cannot be shown would never settle by itself.
    return route.fulfill({ status, headers, body }).catch((error: unknown) => settle(failed(error)));
  }

  function ask(route: Route): Promise<void> {
    asked += 1;
    return asked > requests ? route.abort("blockedbyclient") : route.continue();
  }

  function leave(route: Route, request: Request): Promise<void> {
    const to = request.method() === "GET" ? canonicalUrl(request.url()) : undefined;
    // A page that reloads itself, or posts a form, is read as it is.
    if (to !== undefined && to !== document.url) settle({ kind: "left", to });
    return route.abort("aborted");
  }

  return (route, request) => decide(route, request).catch(ignoreGone);
}

function hasOriginOf(pageUrl: string): (url: string) => boolean {
  const { origin } = new URL(pageUrl);
  return (url) => URL.canParse(url) && new URL(url).origin === origin;
}

function frameOf(request: Request) {
  try {
    return request.frame();
  } catch {
    return undefined; // Playwright's way to say that there is none yet
  }
}

/** What goes on beside the rendering fails only when its page, window or dialog has gone by itself. */
function ignoreGone(): void {}

function failed(error: unknown): Rendering {
  return { kind: "crashed", detail: shortWords(error) };
}
