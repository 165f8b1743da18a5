/** Every page of the dashboard, with everything to see and with nothing: whether all can use it, and it looks right. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import { openViewers, type Viewer, type Viewers } from "./browser.ts";
import { fillStage } from "./fill-stage.ts";
import { axeFindings, layoutFindings } from "./inspect.ts";
import { openStage, type Stage } from "./stage.ts";
import { type Stop, tourOf, visit } from "./tour.ts";

/** A fleet is started and filled, on a machine that runs other tests. */
const START_MS = 300_000;
const WALK_MS = 240_000;
/** A small window, and a phone. */
const NARROWER = [1024, 390];

describe.skipIf(CHROMIUM === undefined)("every page of the dashboard", () => {
  let stage: Stage;
  let viewers: Viewers;
  let stops: Stop[];

  beforeAll(async () => {
    [stage, viewers] = await Promise.all([openStage(), openViewers()]);
    const { shop, books, views } = await fillStage(stage);
    stops = tourOf({ crawl: shop, running: books, views, site: "news.example", url: "http://news.example/story/5" });
  }, START_MS);
  afterAll(async () => {
    await viewers?.close();
    await stage?.close();
  }, START_MS);

  it(
    "can be used by all, in light and dark, and nothing is cut off or covered, from a desk to a phone",
    async () => {
      const viewer = await viewers.open({ key: stage.key });

      const findings = await walk(viewer, stops);

      expect(findings).toEqual({});
      expect(viewer.troubles).toEqual({ errors: [], violations: [], dialogs: [], refused: [] });
    },
    WALK_MS,
  );

  it(
    "is as good where there is nothing to see yet",
    async () => {
      const { key } = await stage.api.keys.add({ name: "newcomer", scopes: ["read", "submit"], tenant: "newcomer" });
      const viewer = await viewers.open({ key });
      const isTheirs = ({ name }: Stop) =>
        ["overview", "jobs", "submit", "dead", "schedules", "explain"].includes(name);

      const findings = await walk(viewer, stops.filter(isTheirs));

      expect(findings).toEqual({});
      expect(viewer.troubles).toMatchObject({ errors: [], violations: [], dialogs: [] });
    },
    WALK_MS,
  );

  /** By the name of the page, what is wrong with it. */
  async function walk({ page }: Viewer, places: readonly Stop[]): Promise<Record<string, string[]>> {
    const wrong: Record<string, string[]> = {};
    const desk = page.viewportSize() ?? { width: 1440, height: 900 };
    for (const stop of places) {
      await visit(page, stage.url, stop);
      const found = [...(await axeFindings(page)), ...(await layoutFindings(page))];
      await page.emulateMedia({ colorScheme: "dark" });
      found.push(...(await axeFindings(page, ["color-contrast"])).map((words) => `dark: ${words}`));
      await page.emulateMedia({ colorScheme: "light" });
      for (const width of NARROWER) {
        await page.setViewportSize({ ...desk, width });
        found.push(...(await layoutFindings(page)).map((words) => `${width} px: ${words}`));
      }
      await page.setViewportSize(desk);
      if (found.length > 0) wrong[stop.name] = found;
    }
    return wrong;
  }
});
