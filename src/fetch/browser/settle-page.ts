/** Waits until a rendered page is ready, and runs the browser actions of the job. */
import type { Page as Tab } from "playwright-core";
import type { BrowserAction, BrowserSpec } from "../../domain/browser.ts";
import type { PageWorld } from "./page-world.ts";

/** A rendered page: Playwright's object for actions, and our own for reading. */
type Shown = { tab: Tab; world: PageWorld };

/**
 * How long the page itself searches with `querySelector`, before Playwright searches. Playwright also searches shadow
 * roots and supports more selectors.
 */
const QUERY_SELECTOR_MS = 1_000;

/** Maximum wait for a page to grow after it was scrolled to its end. */
const GROW_MS = 1_000;

/** Waits until the page is ready, then runs the actions. Returns undefined, or the reason why the page is not ready. */
export async function settlePage(shown: Shown, spec: BrowserSpec): Promise<string | undefined> {
  const problem = await waitFor(shown, spec);
  if (problem !== undefined) return problem;
  for (const [index, action] of spec.actions.entries()) {
    const missing = await act(shown, action, spec.settleMs);
    if (missing !== undefined) return `actions.${index}: ${missing}`;
  }
  return undefined;
}

async function waitFor(shown: Shown, { waitFor, settleMs }: BrowserSpec): Promise<string | undefined> {
  const { tab } = shown;
  switch (waitFor.kind) {
    case "load":
    case "idle":
      await inTime(tab.waitForLoadState(waitFor.kind === "load" ? "load" : "networkidle", { timeout: settleMs }));
      return undefined;
    case "selector":
      return awaitSelector(shown, waitFor.selector, settleMs);
    case "function": {
      const isTrue = await inTime(
        tab.waitForFunction(falseIfItThrows(waitFor.source), undefined, { timeout: settleMs }),
      );
      return isTrue ? undefined : `waitFor.function was not true within ${settleMs} ms`;
    }
  }
}

/** An expression that throws counts as false: early in loading, its variables may not exist. */
function falseIfItThrows(source: string): string {
  const body = `const asked = (${source}); return typeof asked === "function" ? asked() : asked;`;
  return `() => { try { ${body} } catch { return false; } }`;
}

async function act(shown: Shown, action: BrowserAction, settleMs: number): Promise<string | undefined> {
  const { tab } = shown;
  switch (action.kind) {
    case "click":
      return click(tab, action, settleMs);
    case "fill":
      if (await inTime(tab.fill(action.selector, action.text, { timeout: settleMs }))) return undefined;
      return noMatch(action.selector, settleMs);
    case "press":
      await tab.keyboard.press(action.key);
      return undefined;
    case "scroll":
      return scroll(tab, action.times);
    case "pause":
      await tab.waitForTimeout(action.ms);
      return undefined;
    case "await":
      return awaitSelector(shown, action.selector, settleMs);
  }
}

async function click(
  tab: Tab,
  { selector, times, isOptional }: BrowserAction & { kind: "click" },
  settleMs: number,
): Promise<string | undefined> {
  for (let clicked = 0; clicked < times; clicked++) {
    // If the element was clicked before and no longer exists, the list has ended.
    const isThere = await inTime(
      tab.click(selector, { timeout: clicked === 0 ? settleMs : GROW_MS, noWaitAfter: true }),
    );
    if (!isThere) return clicked > 0 || isOptional ? undefined : noMatch(selector, settleMs);
  }
  return undefined;
}

async function scroll(tab: Tab, times: number): Promise<undefined> {
  for (let scrolled = 0; scrolled < times; scrolled++) {
    const height = Number(await tab.evaluate("document.documentElement.scrollHeight"));
    await tab.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
    if (scrolled === times - 1) return;
    const grown = `document.documentElement.scrollHeight > ${height}`;
    if (!(await inTime(tab.waitForFunction(grown, undefined, { timeout: GROW_MS })))) return;
  }
}

async function awaitSelector({ tab, world }: Shown, selector: string, settleMs: number): Promise<string | undefined> {
  const startedAt = performance.now();
  if (await world.has(selector, Math.min(QUERY_SELECTOR_MS, settleMs / 2))) return undefined;
  const timeout = Math.max(1, settleMs - (performance.now() - startedAt));
  const found = await inTime(tab.waitForSelector(selector, { state: "attached", timeout }));
  return found ? undefined : noMatch(selector, settleMs);
}

function noMatch(selector: string, settleMs: number): string {
  return `nothing on the page matched ${selector} within ${settleMs} ms`;
}

/** Returns false if `waiting` ends with a timeout, and true otherwise. Other errors are thrown. */
async function inTime(waiting: Promise<unknown>): Promise<boolean> {
  try {
    await waiting;
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") return false;
    throw error;
  }
}
