/** Content that wants to be more than text, in every place that shows any. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import { openViewers, type Viewers } from "./browser.ts";
import { fillHostile, ODD_HOSTS } from "./fill-hostile.ts";
import { intruders } from "./inspect.ts";
import { openStage, type Stage } from "./stage.ts";
import { type Stop, settled, tourOf, visit } from "./tour.ts";

const START_MS = 300_000;
const WALK_MS = 240_000;
/** Of what can be opened on a page: so many of each name, and so many explanations. */
const ROWS = 2;
const TIPS = 12;

describe.skipIf(CHROMIUM === undefined)("hostile content on the dashboard", () => {
  let stage: Stage;
  let viewers: Viewers;
  let stops: Stop[];

  beforeAll(async () => {
    [stage, viewers] = await Promise.all([openStage(), openViewers()]);
    const { crawl, waiting } = await fillHostile(stage);
    const places = { crawl, running: waiting, site: ODD_HOSTS[0] ?? "", url: "http://evil.example/astray/0" };
    stops = [...tourOf(places), { name: "job-waiting", place: `/jobs/${waiting}?tab=sites` }];
  }, START_MS);
  afterAll(async () => {
    await viewers?.close();
    await stage?.close();
  }, START_MS);

  it(
    "stays text: no dialog, no element, no handler, no address of theirs, whatever is opened",
    async () => {
      const { page, troubles } = await viewers.open({ key: stage.key });
      const found: Record<string, string[]> = {};
      let opened = 0;

      for (const stop of stops) {
        await visit(page, stage.url, stop);
        const words = await intruders(page);
        opened += await openAll(page, stage.url, stop, async () => words.push(...(await intruders(page))));
        if (words.length > 0) found[stop.name] = [...new Set(words)];
      }

      expect(found).toEqual({});
      expect(troubles).toMatchObject({ errors: [], violations: [], dialogs: [] });
      expect(opened).toBeGreaterThan(0);
      // It can still be used.
      await visit(page, stage.url, { place: "/jobs" });
      expect(await page.locator("main h1").textContent()).toBe("Jobs");
    },
    WALK_MS,
  );
});

/** Presses what can be pressed, opens rows and shows explanations; looks after each. How many there were. */
async function openAll(page: Page, base: string, stop: Stop, look: () => Promise<unknown>): Promise<number> {
  let opened = 0;
  const tips = page.locator("main .tip[tabindex]");
  for (let nth = 0; nth < Math.min(await tips.count(), TIPS); nth++) {
    await tips.nth(nth).focus();
    opened++;
  }
  if (opened > 0) await look();
  for (const path of [
    "main button:enabled:visible",
    "main [role=grid] [role=row] a[href^='#']",
    "main [role=row][data-opens]",
  ]) {
    const count = Math.min(await page.locator(path).count(), path.includes("row") ? ROWS : Number.POSITIVE_INFINITY);
    for (let nth = 0; nth < count; nth++) {
      const one = page.locator(path).nth(nth);
      if ((await one.count()) === 0) break;
      await one.click({ timeout: 2_000 }).catch(() => {}); // it may have gone, or lie under a dialog
      opened++;
      await look();
      await page.keyboard.press("Escape");
      if (!page.url().endsWith(`#${stop.place}`)) await visit(page, base, stop);
    }
  }
  await settled(page);
  return opened;
}
