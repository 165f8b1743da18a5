/** Shows one document in a browser's context, waits until it is worth reading, and reads it. */
import type { BrowserContext, Request, Route, Page as Tab } from "playwright-core";
import { canonicalUrl } from "../../domain/canonical-url.ts";

/** When a page is worth reading. */
export type WaitFor =
  /** Everything the document names has come. */
  | { kind: "load" }
  /** Nothing has been asked for during half a second. */
  | { kind: "idle" }
  /** An element is there. A page that never has it is not complete, and is tried again. */
  | { kind: "selector"; selector: string };

export type RenderOptions = {
  waitFor: WaitFor;
  /** A page that loads or chatters on is read after so long all the same. */
  settleMs: number;
  /** What is not fetched: Playwright's resource types. */
  blockedTypes: readonly string[];
};

/** What the site answered, to be shown under the URL it was asked for. */
export type ShownDocument = { url: string; status: number; headers: Record<string, string>; body: Buffer };

export type Rendering =
  | { kind: "rendered"; html: string }
  /** The page itself went elsewhere: a script, a meta element or a header did it. */
  | { kind: "left"; to: string }
  | { kind: "timeout"; detail: string }
  | { kind: "crashed"; detail: string };

type Settle = (rendering: Rendering) => void;

/** Never throws for what the page does; may never settle by itself, so the caller keeps the time. */
export function renderPage(
  context: BrowserContext,
  { welcomeUrl, document }: { welcomeUrl: string; document: ShownDocument },
  options: RenderOptions,
): Promise<Rendering> {
  return new Promise((settle) => {
    show(context, welcomeUrl, document, options, settle).then(settle, (error: unknown) => settle(failed(error)));
  });
}

async function show(
  context: BrowserContext,
  welcomeUrl: string,
  document: ShownDocument,
  options: RenderOptions,
  settle: Settle,
): Promise<Rendering> {
  const tab = await context.newPage();
  tab.on("crash", () => settle({ kind: "crashed", detail: "the page crashed" }));
  tab.on("close", () => settle({ kind: "crashed", detail: "the browser closed the page" }));
  tab.on("dialog", (dialog) => dialog.dismiss().catch(ignoreGone));
  context.on("page", (popup) => void popup.close().catch(ignoreGone));
  // So that the proxy's secret is known to everything this context opens.
  await tab.goto(welcomeUrl, { timeout: 0 });
  await context.route("**/*", createRouting(tab, document, options.blockedTypes, settle));
  await tab.goto(document.url, { waitUntil: "commit", timeout: 0 });
  await tab.waitForLoadState("domcontentloaded", { timeout: 0 });
  const lack = await settled(tab, options);
  return lack ?? { kind: "rendered", html: await tab.content() };
}

/** What becomes of each request of the page. Redirect hops do not come by here: the filter proxy sees those. */
function createRouting(
  tab: Tab,
  document: ShownDocument,
  blockedTypes: readonly string[],
  settle: Settle,
): (route: Route, request: Request) => Promise<void> {
  let isShown = false;

  function decide(route: Route, request: Request): Promise<void> {
    if (!request.isNavigationRequest()) {
      return blockedTypes.includes(request.resourceType()) ? route.abort("blockedbyclient") : route.continue();
    }
    // A window that has just been opened has no frame yet, and is not wanted.
    const frame = frameOf(request);
    if (frame === undefined || frame.page() !== tab) return route.abort("aborted");
    if (frame !== tab.mainFrame()) return route.continue();
    if (isShown) return leave(route, request);
    isShown = true;
    const { status, headers, body } = document;
    // A document that cannot be shown would never settle by itself.
    return route.fulfill({ status, headers, body }).catch((error: unknown) => settle(failed(error)));
  }

  function leave(route: Route, request: Request): Promise<void> {
    const to = request.method() === "GET" ? canonicalUrl(request.url()) : undefined;
    // A page that reloads itself, or posts a form, is read as it is.
    if (to !== undefined && to !== document.url) settle({ kind: "left", to });
    return route.abort("aborted");
  }

  return (route, request) => decide(route, request).catch(ignoreGone);
}

/** Undefined when the page is worth reading. */
async function settled(tab: Tab, { waitFor, settleMs }: RenderOptions): Promise<Rendering | undefined> {
  switch (waitFor.kind) {
    case "load":
      await tab.waitForLoadState("load", { timeout: settleMs }).catch(ignoreTimeout);
      return undefined;
    case "idle":
      await tab.waitForLoadState("networkidle", { timeout: settleMs }).catch(ignoreTimeout);
      return undefined;
    case "selector": {
      const { selector } = waitFor;
      const found = await tab.waitForSelector(selector, { state: "attached", timeout: settleMs }).catch(ignoreTimeout);
      const detail = `nothing on the page matched ${selector} within ${settleMs} ms`;
      return found === undefined ? { kind: "timeout", detail } : undefined;
    }
  }
}

function ignoreTimeout(error: unknown): undefined {
  if (!(error instanceof Error) || error.name !== "TimeoutError") throw error;
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
  const message = error instanceof Error ? error.message : String(error);
  return { kind: "crashed", detail: message.replace(/\s+/g, " ").trim().slice(0, 300) };
}
