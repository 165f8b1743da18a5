/** What people do with the dashboard, in a real browser, on a real fleet; judged by what the fleet and the sites saw. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import { openViewers, type Viewer, type Viewers } from "./browser.ts";
import { openStage, type Stage } from "./stage.ts";
import { visit } from "./tour.ts";

const START_MS = 120_000;
const NONE = { errors: [], violations: [], dialogs: [], refused: [] };

describe.skipIf(CHROMIUM === undefined)("the dashboard, used", () => {
  let stage: Stage;
  let viewers: Viewers;
  let viewer: Viewer;
  let page: Page;

  beforeAll(async () => {
    [stage, viewers] = await Promise.all([openStage(), openViewers()]);
  }, START_MS);
  afterAll(async () => {
    await viewers?.close();
    await stage?.close();
  }, START_MS);

  async function open(key: string | undefined = stage.key): Promise<void> {
    viewer = await viewers.open(key === undefined ? {} : { key });
    page = viewer.page;
    page.setDefaultTimeout(20_000);
  }
  beforeEach(() => async () => viewer?.close());

  it("lets nobody in without a key, says what is wrong with one, and leads to where one wanted to go", async () => {
    viewer = await viewers.open();
    page = viewer.page;
    await page.goto(`${stage.url}/#/jobs`);
    await page.getByLabel("Key").fill("not-a-key-of-this-server");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Key").fill(stage.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();

    expect(page.url()).toBe(`${stage.url}/#/jobs`);
    expect(viewer.troubles).toMatchObject({ ...NONE, refused: expect.any(Array) });
    expect(viewer.troubles.refused.every((words) => words.startsWith("401 GET"))).toBe(true);
  });

  it("says that the server is away, keeps what it shows, and comes back by itself", async () => {
    await open();
    await visit(page, stage.url, { place: "/" });
    await page.getByText("live", { exact: true }).waitFor();
    await stage.server.kill();
    await page.getByText("Lost the server").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Overview");
    await stage.server.restart();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByText("Lost the server").waitFor({ state: "detached" });
    const { id } = await stage.api.submit({
      name: "After the storm",
      urls: ["http://books.example/"],
      queue: "nobody",
    });

    await page.getByRole("main").getByText("After the storm").waitFor();

    await stage.api.job(id).cancel();
    expect(viewer.troubles).toMatchObject({ ...NONE, refused: expect.any(Array) });
  });
});
