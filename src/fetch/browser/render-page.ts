/** Renders one document in a browser context, waits until it is ready, and reads it. */

import type { BrowserContext, CDPSession, Request, Route, Page as Tab } from "playwright-core";
import type { BrowserSpec, ResourceType } from "../../domain/browser.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import type { Pictures } from "../fetcher.ts";
import { sendOwnHeaders } from "./own-headers.ts";
import { createPageWorld } from "./page-world.ts";
import { playwrightMessage } from "./playwright-message.ts";
import { settlePage } from "./settle-page.ts";

/** The response of the site, to be rendered under the requested URL. */
export type ShownDocument = {
  url: string;
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Sent with requests of the page to its own origin. */
  ownHeaders: Readonly<Record<string, string>>;
  /** Whether it is the page of a block, whose scripts may set a cookie and then load the page again. */
  isChallenge?: boolean;
};

export type Rendering =
  | { kind: "rendered"; html: string; pictures: Pictures; tab: Tab }
  /** The page navigated away: by a script, a meta element or a header. */
  | { kind: "left"; to: string }
  | { kind: "timeout"; detail: string }
  | { kind: "crashed"; detail: string };

type Showing = { welcomeUrl: string; document: ShownDocument };
type Settle = (rendering: Rendering) => void;

/** Never rejects because of the page. The promise may never settle, so the caller must apply a timeout. */
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
  await sendProxySecret(session, welcomeUrl);
  await sendOwnHeaders(tab, document.ownHeaders, hasOriginOf(document.url));
  await context.route("**/*", createRouting(tab, document, spec, settle));
  await tab.goto(document.url, { waitUntil: "commit", timeout: 0 });
  await tab.waitForLoadState("domcontentloaded", { timeout: 0 });
  // If the scripts load the page again within this time, the rendering ends.
  if (document.isChallenge === true) await tab.waitForTimeout(spec.settleMs);
  const world = createPageWorld(session);
  const problem = await settlePage({ tab, world }, spec);
  if (problem !== undefined) return { kind: "timeout", detail: problem };
  return { kind: "rendered", html: await world.html(), pictures: await picturesOf(tab, spec), tab };
}

/**
 * Makes the browser send the proxy's secret with all requests of this context. The empty tab fetches the welcome page
 * without rendering it, because rendering would need a renderer process of its own.
 */
async function sendProxySecret(session: CDPSession, welcomeUrl: string): Promise<void> {
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

/** Handles each request of the page. Redirect hops are not seen here, only by the filter proxy. */
function createRouting(
  tab: Tab,
  document: ShownDocument,
  { block, requests }: BrowserSpec,
  settle: Settle,
): (route: Route, request: Request) => Promise<void> {
  let isShown = false;
  let count = 0;

  function decide(route: Route, request: Request): Promise<void> {
    if (!request.isNavigationRequest()) {
      return block.includes(request.resourceType() as ResourceType) ? route.abort("blockedbyclient") : pass(route);
    }
    // A new window has no frame yet. Windows are blocked.
    const frame = frameOf(request);
    if (frame === undefined || frame.page() !== tab) return route.abort("aborted");
    if (frame !== tab.mainFrame()) return pass(route);
    if (isShown) return leave(route, request);
    isShown = true;
    const { status, headers, body } = document;
    // If the browser rejects the document, no other event would settle the rendering.
    return route.fulfill({ status, headers, body }).catch((error: unknown) => settle(failed(error)));
  }

  function pass(route: Route): Promise<void> {
    count += 1;
    return count > requests ? route.abort("blockedbyclient") : route.continue();
  }

  function leave(route: Route, request: Request): Promise<void> {
    const to = request.method() === "GET" ? canonicalUrl(request.url()) : undefined;
    // If the page reloads itself or posts a form, it is read in its current state.
    if (to !== undefined && (document.isChallenge === true || to !== document.url)) settle({ kind: "left", to });
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
    return undefined; // Playwright throws if the request has no frame yet
  }
}

/** Ignores errors of background actions: they fail only if their page, window or dialog has closed. */
function ignoreGone(): void {}

function failed(error: unknown): Rendering {
  return { kind: "crashed", detail: playwrightMessage(error) };
}
