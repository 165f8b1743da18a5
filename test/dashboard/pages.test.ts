/** Checks accessibility and layout of every page, with data and without. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import { openViewers, type Viewer, type Viewers } from "./browser.ts";
import { STAGE_PROXIES } from "./fill-proxies.ts";
import { fillStage } from "./fill-stage.ts";
import { axeFindings, layoutFindings } from "./inspect.ts";
import { openStage, type Stage } from "./stage.ts";
import { type View, viewsOf, visit } from "./views.ts";

/** Starting and filling a fleet takes long on a machine that runs other tests. */
const START_MS = 300_000;
const WALK_MS = 240_000;
/** A small window, and a phone. */
const NARROWER = [1024, 390];

describe.skipIf(CHROMIUM === undefined)("every page of the dashboard", () => {
  let stage: Stage;
  let viewers: Viewers;
  let views: View[];

  beforeAll(async () => {
    [stage, viewers] = await Promise.all([openStage({ proxies: STAGE_PROXIES }), openViewers()]);
    const { shop, books, views: rendered } = await fillStage(stage);
    views = viewsOf({
      crawl: shop,
      running: books,
      views: rendered,
      site: "news.example",
      url: "http://news.example/story/5",
    });
  }, START_MS);
  afterAll(async () => {
    await viewers?.close();
    await stage?.close();
  }, START_MS);

  it(
    "is accessible in light and dark, and has no layout faults at 1440, 1024 and 390 px",
    async () => {
      const viewer = await viewers.open({ key: stage.key });

      const findings = await check(viewer, views);

      expect(findings).toEqual({});
      expect(viewer.problems).toEqual({ errors: [], violations: [], dialogs: [], refused: [] });
    },
    WALK_MS,
  );

  it(
    "is accessible and has no layout faults without data",
    async () => {
      const { key } = await stage.api.keys.add({ name: "newcomer", scopes: ["read", "submit"], tenant: "newcomer" });
      const viewer = await viewers.open({ key });
      const isForTenant = ({ name }: View) =>
        ["overview", "jobs", "submit", "dead", "schedules", "explain"].includes(name);

      const findings = await check(viewer, views.filter(isForTenant));

      expect(findings).toEqual({});
      expect(viewer.problems).toMatchObject({ errors: [], violations: [], dialogs: [] });
    },
    WALK_MS,
  );

  /** The name of each view that has findings -> its findings. */
  async function check({ page }: Viewer, checked: readonly View[]): Promise<Record<string, string[]>> {
    const findings: Record<string, string[]> = {};
    const desktop = page.viewportSize() ?? { width: 1440, height: 900 };
    for (const view of checked) {
      await visit(page, stage.url, view);
      const found = [...(await axeFindings(page)), ...(await layoutFindings(page))];
      await page.emulateMedia({ colorScheme: "dark" });
      found.push(...(await axeFindings(page, ["color-contrast"])).map((finding) => `dark: ${finding}`));
      await page.emulateMedia({ colorScheme: "light" });
      for (const width of NARROWER) {
        await page.setViewportSize({ ...desktop, width });
        found.push(...(await layoutFindings(page)).map((finding) => `${width} px: ${finding}`));
      }
      await page.setViewportSize(desktop);
      if (found.length > 0) findings[view.name] = found;
    }
    return findings;
  }
});
