/**
 * Reads a shown page over the browser's own protocol. Playwright's `content` and `waitForSelector` put a large script of
 * theirs into every page before they look at it: of 171 ms of CPU for a nearly empty page they took 66.
 */
import type { CDPSession } from "playwright-core";

export type PageWorld = {
  /** The whole document as it stands, its doctype included. */
  html(): Promise<string>;
  /**
   * Whether something matches within `mostMs`. Undefined where a page by itself cannot tell: the selector is of
   * Playwright's dialect, or none at all.
   */
  has(selector: string, mostMs: number): Promise<boolean | undefined>;
};

/** What Chromium says when the page has gone on to another document meanwhile. */
const MOVED_ON = /cannot find context|context was destroyed|navigated or closed/i;

export function createPageWorld(session: CDPSession): PageWorld {
  /** Apart from the page's own scripts, which may have changed what `querySelector` does. */
  async function enter(): Promise<number> {
    const { frameTree } = await session.send("Page.getFrameTree");
    const world = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "trawl" });
    return world.executionContextId;
  }

  async function look(selector: string, mostMs: number): Promise<boolean | undefined> {
    const expression = `(${watch})(${JSON.stringify(selector)}, ${Math.max(0, mostMs)})`;
    const asked = { contextId: await enter(), expression, awaitPromise: true, returnByValue: true };
    const { result } = await session.send("Runtime.evaluate", asked);
    return result.value;
  }

  async function readDocument(): Promise<string> {
    const { result } = await session.send("Runtime.evaluate", { expression: "document" });
    const { objectId = "" } = result;
    return (await session.send("DOM.getOuterHTML", { objectId })).outerHTML;
  }

  return {
    html: () => untilSteady(readDocument),
    has(selector, mostMs) {
      const until = performance.now() + mostMs;
      return untilSteady(() => look(selector, until - performance.now()));
    },
  };
}

/** Once more for every document that comes in place of the one that was asked; who waits keeps the time. */
async function untilSteady<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Error && MOVED_ON.test(error.message))) throw error;
    }
  }
}

/** Runs in the page. */
const watch = `(selector, mostMs) => new Promise((resolve) => {
  const isThere = () => document.querySelector(selector) !== null;
  const end = (found) => { watcher.disconnect(); clearTimeout(timer); resolve(found); };
  const watcher = new MutationObserver(() => { if (isThere()) end(true); });
  const timer = setTimeout(end, mostMs, false);
  watcher.observe(document, { childList: true, subtree: true, attributes: true });
  try {
    if (isThere()) end(true);
  } catch {
    end(undefined);
  }
})`;
