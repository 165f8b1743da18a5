/** Shows hostile content in every view that displays untrusted text. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import { openViewers, type Viewers } from "./browser.ts";
import { fillHostile, ODD_HOSTS } from "./fill-hostile.ts";
import { foreignContent } from "./inspect.ts";
import { openStage, type Stage } from "./stage.ts";
import { settled, type View, viewsOf, visit } from "./views.ts";

const START_MS = 300_000;
const WALK_MS = 240_000;
/** The maximum number of rows and tooltips of a view that are opened, and of elements that are clicked. */
const ROWS = 2;
const TIPS = 12;
const CLICKS_MAX = 40;
/** Views that must show hostile text. */
const SHOWN = "jobs job-records job-pages job-errors job-invalid job-spec site dead schedules explain keys".split(" ");
const DIALOGS_MIN = 8;

describe.skipIf(CHROMIUM === undefined)("hostile content on the dashboard", () => {
  let stage: Stage;
  let viewers: Viewers;
  let views: View[];

  beforeAll(async () => {
    [stage, viewers] = await Promise.all([openStage(), openViewers()]);
    const { crawl, waiting } = await fillHostile(stage);
    const jobs = { crawl, running: waiting, site: ODD_HOSTS[0] ?? "", url: "http://evil.example/redirect/0" };
    views = [...viewsOf(jobs), { name: "job-waiting", path: `/jobs/${waiting}?tab=sites` }];
  }, START_MS);
  afterAll(async () => {
    await viewers?.close();
    await stage?.close();
  }, START_MS);

  it(
    "stays text in every view and dialog: no element, handler, link or alert is created from it",
    async () => {
      const { page, problems } = await viewers.open({ key: stage.key });
      const found: Record<string, string[]> = {};
      const shown = new Set<string>();
      let dialogs = 0;

      for (const view of views) {
        const findings: string[] = [];
        const inspect = async () => {
          findings.push(...(await foreignContent(page)));
          if ((await page.locator("body").innerText()).includes("struck=1")) shown.add(view.name);
          dialogs += await page.getByRole("dialog").count();
        };
        await visit(page, stage.url, view);
        await inspect();
        await openAll(page, stage.url, view, inspect);
        if (findings.length > 0) found[view.name] = [...new Set(findings)];
      }

      expect(found).toEqual({});
      expect(problems).toMatchObject({ errors: [], violations: [], dialogs: [] });
      // Proves that hostile text was shown and that dialogs were opened.
      expect([...shown].sort()).toEqual(expect.arrayContaining(SHOWN));
      expect(dialogs).toBeGreaterThan(DIALOGS_MIN);
      // The page still works.
      await visit(page, stage.url, { path: "/jobs" });
      await page.getByLabel("Search").first().fill("Scunthorpe");
      await page.getByRole("link", { name: "Scunthorpe General" }).waitFor();
    },
    WALK_MS,
  );
});

/** Opens tips, clicks buttons and opens rows; calls `inspect` after each. */
async function openAll(page: Page, base: string, view: View, inspect: () => Promise<void>): Promise<void> {
  const tips = page.locator("main .tip[tabindex]");
  for (let nth = 0; nth < Math.min(await tips.count(), TIPS); nth++) await tips.nth(nth).focus();
  await inspect();
  const names = new Set<string>();
  for (const path of ["main button:enabled:visible", "main .table-row.is-link:visible"]) {
    for (let nth = 0; nth < Math.min(await page.locator(path).count(), CLICKS_MAX); nth++) {
      const one = page.locator(path).nth(nth);
      // One button of each kind is enough: every row has the same buttons.
      const name = path.includes("button") ? firstWord(await one.textContent()) : `${path} ${nth % ROWS}`;
      if (names.has(name)) continue;
      names.add(name);
      await one.click({ timeout: 2_000, position: { x: 4, y: 4 } }).catch(() => {}); // the element may have disappeared
      await inspect();
      const parts = page.locator("dialog[open] .choice button");
      for (let part = 0; part < (await parts.count()); part++) {
        await parts.nth(part).click();
        await page.locator("dialog[open] .loading").waitFor({ state: "detached" });
        await inspect();
      }
      await page.keyboard.press("Escape");
      if (!page.url().endsWith(`#${view.path}`)) await visit(page, base, view);
    }
  }
  await settled(page);
}

/** The verb of a button, without the name of its object. */
function firstWord(text: string | null): string {
  return (text ?? "").trim().split(" ", 1)[0] ?? "";
}
