/**
 * Reads a rendered page over the DevTools protocol. Playwright's `content` and `waitForSelector` inject a large script
 * into every page: they took 66 of the 171 ms of CPU time for a nearly empty page.
 */
import type { CDPSession } from "playwright-core";

export type PageWorld = {
  /** The current document, including its doctype. */
  html(): Promise<string>;
  /**
   * Whether an element matches within `maxMs`. Undefined if the page itself cannot evaluate the selector, because the
   * selector uses Playwright's extensions or is invalid.
   */
  has(selector: string, maxMs: number): Promise<boolean | undefined>;
};

/** Chromium's error message when the page has navigated to another document. */
const NAVIGATED = /cannot find context|context was destroyed|navigated or closed/i;

export function createPageWorld(session: CDPSession): PageWorld {
  /** Creates a context that is isolated from the page's scripts, which may have replaced `querySelector`. */
  async function enter(): Promise<number> {
    const { frameTree } = await session.send("Page.getFrameTree");
    const world = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "trawl" });
    return world.executionContextId;
  }

  async function watchFor(selector: string, maxMs: number): Promise<boolean | undefined> {
    const expression = `(${watch})(${JSON.stringify(selector)}, ${Math.max(0, maxMs)})`;
    const parameters = { contextId: await enter(), expression, awaitPromise: true, returnByValue: true };
    const { result } = await session.send("Runtime.evaluate", parameters);
    return result.value;
  }

  async function readDocument(): Promise<string> {
    const { result } = await session.send("Runtime.evaluate", { expression: "document" });
    const { objectId = "" } = result;
    return (await session.send("DOM.getOuterHTML", { objectId })).outerHTML;
  }

  return {
    html: () => untilSteady(readDocument),
    has(selector, maxMs) {
      const until = performance.now() + maxMs;
      return untilSteady(() => watchFor(selector, until - performance.now()));
    },
  };
}

/** Retries when the document is replaced by another. The caller applies a timeout. */
async function untilSteady<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Error && NAVIGATED.test(error.message))) throw error;
    }
  }
}

/** Runs in the page. */
const watch = `(selector, maxMs) => new Promise((resolve) => {
  const isThere = () => document.querySelector(selector) !== null;
  const end = (found) => { watcher.disconnect(); clearTimeout(timer); resolve(found); };
  const watcher = new MutationObserver(() => { if (isThere()) end(true); });
  const timer = setTimeout(end, maxMs, false);
  watcher.observe(document, { childList: true, subtree: true, attributes: true });
  try {
    if (isThere()) end(true);
  } catch {
    end(undefined);
  }
})`;
