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
/** Of what can be opened on a page: so many rows, explanations, and things to press. */
const ROWS = 2;
const TIPS = 12;
const MOST = 40;
/** Pages on which a name, a title, an address or a message of theirs is shown. */
const SHOWN = "jobs job-records job-pages job-errors job-invalid job-spec site dead schedules explain keys".split(" ");
const WINDOWS_LEAST = 8;

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
      const shown = new Set<string>();
      let windows = 0;

      for (const stop of stops) {
        const words: string[] = [];
        const look = async () => {
          words.push(...(await intruders(page)));
          if ((await page.locator("body").innerText()).includes("struck=1")) shown.add(stop.name);
          windows += await page.getByRole("dialog").count();
        };
        await visit(page, stage.url, stop);
        await look();
        await openAll(page, stage.url, stop, look);
        if (words.length > 0) found[stop.name] = [...new Set(words)];
      }

      expect(found).toEqual({});
      expect(troubles).toMatchObject({ errors: [], violations: [], dialogs: [] });
      // What it is about was there to be seen, and opened.
      expect([...shown].sort()).toEqual(expect.arrayContaining(SHOWN));
      expect(windows).toBeGreaterThan(WINDOWS_LEAST);
      // And the page can still be used.
      await visit(page, stage.url, { place: "/jobs" });
      await page.getByLabel("Search").first().fill("Scunthorpe");
      await page.getByRole("link", { name: "Scunthorpe General" }).waitFor();
    },
    WALK_MS,
  );
});

/** Presses what can be pressed, opens rows and shows explanations; looks after each. */
async function openAll(page: Page, base: string, stop: Stop, look: () => Promise<void>): Promise<void> {
  const tips = page.locator("main .tip[tabindex]");
  for (let nth = 0; nth < Math.min(await tips.count(), TIPS); nth++) await tips.nth(nth).focus();
  await look();
  const names = new Set<string>();
  for (const path of ["main button:enabled:visible", "main .table-row.is-link:visible"]) {
    for (let nth = 0; nth < Math.min(await page.locator(path).count(), MOST); nth++) {
      const one = page.locator(path).nth(nth);
      // One of a kind is enough: every row has its buttons.
      const name = path.includes("button") ? firstWord(await one.textContent()) : `${path} ${nth % ROWS}`;
      if (names.has(name)) continue;
      names.add(name);
      await one.click({ timeout: 2_000, position: { x: 4, y: 4 } }).catch(() => {}); // it may have gone meanwhile
      await look();
      const parts = page.locator("dialog[open] .choice button");
      for (let part = 0; part < (await parts.count()); part++) {
        await parts.nth(part).click();
        await page.locator("dialog[open] .loading").waitFor({ state: "detached" });
        await look();
      }
      await page.keyboard.press("Escape");
      if (!page.url().endsWith(`#${stop.place}`)) await visit(page, base, stop);
    }
  }
  await settled(page);
}

/** What follows it is the name of what it is about. */
function firstWord(words: string | null): string {
  return (words ?? "").trim().split(" ", 1)[0] ?? "";
}
