/** What people do with the dashboard, in a real browser, on a real fleet; judged by what the fleet and the sites saw. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSqliteFrontier } from "../../src/frontier/sqlite/open.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { aJob } from "../contracts/frontier/makers.ts";
import { waitUntil } from "../services/wait-until.ts";
import type { Arrival } from "../site/origin.ts";
import { openViewers, type Viewer, type Viewers } from "./browser.ts";
import { openStage, type Stage } from "./stage.ts";
import { page as okPage } from "./stage-web.ts";
import { visit } from "./tour.ts";

const START_MS = 300_000;
const NONE = { errors: [], violations: [], dialogs: [], refused: [] };

/** Between two requests at 2/s. A hundred of them take longer than we wait. */
const SLOW_MS = 500;
/** Of the first request, on a machine that is busy: the others came in time after it. */
const LATE_MS = 400;
const PATIENCE_MS = 25_000;

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

  async function open(): Promise<void> {
    viewer = await viewers.open({ key: stage.key });
    page = viewer.page;
    page.setDefaultTimeout(20_000);
  }
  beforeEach(() => async () => viewer?.close());

  it("submits a job by its form after a preview, and shows its progress and records as they come", async () => {
    await open();
    await visit(page, stage.url, { place: "/jobs/new" });
    await page.getByLabel("Name", { exact: true }).first().fill("One shelf");
    await page.getByLabel("Start URLs").fill("http://books.example/shelf/1");
    await page.getByLabel("Follow links to more pages").check();
    await page.getByLabel("Rate").fill("20/s");
    await page.getByRole("button", { name: "Add a field" }).click();
    await page.getByPlaceholder("name", { exact: true }).last().fill("heading");
    await page.getByLabel("Selector of heading").fill("h1");
    // What is wrong stands at its field and nowhere else, and goes when that is changed.
    const [urls, submit] = [page.getByLabel("Start URLs"), page.getByRole("button", { name: "Submit job" })];
    await urls.fill("");
    await submit.click();
    await page.getByText("the job has none").waitFor();
    expect(await page.locator("form [role=alert]").count()).toBe(0);
    await urls.fill("http://books.example/shelf/1");
    await page.getByText("the job has none").waitFor({ state: "detached" });
    // Somebody who looks something up in between finds it as it was left.
    await visit(page, stage.url, { place: "/jobs" });
    await visit(page, stage.url, { place: "/jobs/new" });
    await page.getByRole("button", { name: "Start afresh" }).waitFor();
    expect(await page.getByLabel("Selector of heading").inputValue()).toBe("h1");
    await page.getByRole("button", { name: "Fetch page" }).click();
    const preview = page.locator(".preview");
    await preview.getByText("Shelf 1", { exact: true }).first().waitFor();
    await page.getByLabel("Selector of heading").fill("a");
    await preview.getByText("book 1", { exact: true }).waitFor();
    // It follows what is typed, and asks the site no second time.
    expect(stage.web.visitsOf("books.example").map(({ path }) => path)).toEqual(["/shelf/1"]);
    await page.getByLabel("Selector of heading").fill("h1");
    await page.evaluate("window.isSamePage = true");

    await submit.click();

    await page.getByRole("heading", { level: 1, name: "One shelf" }).waitFor();
    expect(await page.title()).toBe("One shelf · Trawl");
    await page.getByRole("main").getByText("running", { exact: true }).waitFor();
    await page.getByRole("main").getByText("finished", { exact: true }).waitFor();
    await page.getByRole("link", { name: /^Records\s*41$/ }).waitFor();
    await page.getByRole("grid", { name: "Records" }).getByText("Shelf 1", { exact: true }).first().click();
    await page.getByRole("dialog").getByText("http://books.example/shelf/1").first().waitFor();
    expect(await page.evaluate("window.isSamePage")).toBe(true);
    expect(viewer.troubles).toEqual({ ...NONE, refused: [expect.stringMatching(/^400 POST \S+\/v1\/jobs$/)] });
  });

  it("leaves nothing of a preview that is cancelled or fails", async () => {
    stage.web.serve("stuck.example", () => ({ ...okPage("late", ""), delayMs: PATIENCE_MS }));
    await open();
    await visit(page, stage.url, { place: "/jobs/new" });
    const previews = async () => (await stage.api.listJobs({ q: "Preview of" })).jobs.length;

    await page.getByLabel("Try it on").fill("http://stuck.example/");
    await page.getByRole("button", { name: "Fetch page" }).click();
    expect(await waitUntil(async () => (await previews()) === 1, PATIENCE_MS)).toBe(true);
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await waitUntil(async () => (await previews()) === 0, PATIENCE_MS)).toBe(true);

    await page.getByLabel("Try it on").fill("http://archive.example/broken/1");
    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.getByText("The page was given up on: retries_spent").waitFor();
    expect(await waitUntil(async () => (await previews()) === 0, PATIENCE_MS)).toBe(true);
    const { letters } = await stage.api.dead.groups({ site: "archive.example" });
    expect(letters).toBe(0);

    await page.getByLabel("Try it on").fill("nowhere");
    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.locator(".preview .field-problem").getByText("not an absolute http(s) URL").waitFor();
    expect(viewer.troubles).toEqual(NONE);
  });

  it("says of a job that was submitted what was not taken, and a secret that is told once", async () => {
    await open();
    await visit(page, stage.url, { place: "/jobs/new?as=json" });
    const told = { name: "Not all", urls: ["http://books.example/", "ftp://books.example/", "http://books.example/"] };
    const webhook = { url: "http://hooks.example/in" };
    await page.locator("textarea.json-text").fill(JSON.stringify({ ...told, webhook, politeness: { robots: false } }));

    await page.getByRole("button", { name: "Submit job" }).click();

    const note = page.getByRole("status").filter({ hasText: "1 of 3 URLs was taken" });
    await note.getByText("1 came twice, 1 cannot be fetched").waitFor();
    await note.getByText("Line 2, ftp://books.example/").waitFor();
    expect(await note.locator("pre").innerText()).toMatch(/^whsec_/);
    await note.getByRole("button", { name: "Close" }).click();
    await note.waitFor({ state: "detached" });
    expect(viewer.troubles).toEqual(NONE);
  });

  it("replays dead letters, which are done once their site is mended", async () => {
    let isMended = false;
    stage.web.serve("mended.example", (path) =>
      isMended ? okPage(path, "") : { status: 500, body: "the database is away" },
    );
    const urls = Array.from({ length: 6 }, (_, nth) => `http://mended.example/${nth}`);
    const politeness = { rate: "unlimited", robots: false } as const;
    const job = await stage.api.submit({ name: "Mended", urls, politeness, retries: { max: 0 } });
    await job.wait();
    isMended = true;
    await open();
    await visit(page, stage.url, { place: `/dead?job=${job.id}` });

    await page.getByRole("button", { name: "Replay 6 letters" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Replay 6 letters" }).click();

    await page.getByText("6 letters queued again").waitFor();
    await page.getByText("No dead letter is like that.").waitFor();
    expect(await job.wait()).toMatchObject({ state: "finished", counts: { done: 6, dead: 0 } });
    expect(stage.web.visitsOf("mended.example").map(({ status }) => status)).toEqual([
      ...Array(6).fill(500),
      ...Array(6).fill(200),
    ]);
    expect(viewer.troubles).toEqual(NONE);
  });

  it("changes the rate of a site while it is crawled, and the site's own log obeys", async () => {
    stage.web.serve("rated.example", (path) => okPage(path, ""));
    const urls = Array.from({ length: 400 }, (_, nth) => `http://rated.example/${nth}`);
    const job = await stage.api.submit({ urls, politeness: { rate: "2/s", robots: false } });
    await open();
    await visit(page, stage.url, { place: "/sites/rated.example" });
    expect(await page.title()).toBe("rated.example · Trawl");
    const visits = () => stage.web.visitsOf("rated.example");
    await waitUntil(() => visits().length >= 6, PATIENCE_MS);
    const before = visits();
    expect(spanOf(before)).toBeGreaterThan((before.length - 1) * SLOW_MS - LATE_MS);

    await page.getByLabel("Rate", { exact: true }).fill("50/s");
    await page.getByRole("button", { name: "Set" }).click();

    const isFast = () => visits().length >= before.length + 100;
    expect(await waitUntil(isFast, PATIENCE_MS)).toBe(true);
    expect(spanOf(visits().slice(before.length))).toBeLessThan(100 * SLOW_MS);
    await job.cancel();
    await stage.api.sites.unset("rated.example");
    expect(viewer.troubles).toEqual(NONE);
  });

  it("shows a worker that is killed as lost, and drains another by its button", async () => {
    const alone = ["--queues", "lonely", "--pool", "solo"];
    const [lone, drained] = await Promise.all([stage.worker(alone), stage.worker(alone)]);
    await open();
    await visit(page, stage.url, { place: "/workers" });
    const row = page.getByRole("row").filter({ hasText: `/${lone.pid}` });
    await row.getByText(/idle|working/).waitFor();

    lone.kill("SIGKILL");
    await page.getByRole("button", { name: new RegExp(`^Drain .*/${drained.pid}$`) }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();

    expect((await drained.ended).code).toBe(0);
    const left = page.getByRole("row").filter({ hasText: `/${drained.pid}` });
    await left.getByText(/^gone /).waitFor();
    await row.getByText(/^lost /).waitFor({ timeout: 40_000 });
    expect(viewer.troubles).toEqual(NONE);
  });

  it("says that the server is away, keeps what it shows, and comes back by itself", async () => {
    await open();
    await visit(page, stage.url, { place: "/workers" });
    await page.getByText("live", { exact: true }).waitFor();
    const drain = page.getByRole("button", { name: /^Drain / }).first();
    expect(await drain.isEnabled()).toBe(true);
    const unanswered = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/workers"));
    await stage.server.kill();
    await page.getByText("Lost the server").waitFor();
    await unanswered;
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Workers");
    expect([await drain.isDisabled(), await page.getByRole("alert").count()]).toEqual([true, 0]);
    await stage.server.restart();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByText("Lost the server").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Overview" }).click();
    const { id } = await stage.api.submit({
      name: "After the storm",
      urls: ["http://books.example/"],
      queue: "nobody",
    });

    await page.getByRole("main").getByText("After the storm").waitFor();

    await stage.api.job(id).cancel();
    expect(viewer.troubles).toMatchObject({ ...NONE, refused: expect.any(Array) });
  });

  it("shows a job that runs behind many newer ones, follows it to its end, and says when it was deleted", async () => {
    const job = await stage.api.submit({ name: "Behind", urls: ["http://books.example/"], queue: "nobody" });
    await addEnded(stage.folder, 210);
    await open();
    await visit(page, stage.url, { place: "/" });
    await page.getByRole("main").getByText("Behind", { exact: true }).waitFor();
    await visit(page, stage.url, { place: "/jobs" });
    await page.getByRole("button", { name: /^running [1-9]/ }).waitFor();
    await page.getByRole("button", { name: "finished", exact: true }).waitFor(); // there are more than it knows of
    await visit(page, stage.url, { place: `/jobs/${job.id}` });
    const says = page.locator(".job-says");
    await says.getByText("running").waitFor();

    await job.cancel();
    await says.getByText("cancelled").waitFor();
    await job.delete();
    await page.getByText("This job was deleted.").waitFor();

    expect(viewer.troubles).toMatchObject({ violations: [], dialogs: [] });
  });
});

/** Jobs that end as soon as they are made. */
async function addEnded(folder: string, many: number): Promise<void> {
  const options = { maxPending: 1, busyMs: 30_000, pollMs: 1_000 };
  const frontier = openSqliteFrontier(join(folder, ".trawl/broker.db"), { clock: systemClock() }, options);
  for (let nth = 0; nth < many; nth++) {
    await frontier.createJob(aJob({ id: `ended${nth}` }));
    await frontier.seal(`ended${nth}`);
  }
  await frontier.close();
}

/** From the first to the last, as the site saw them. */
function spanOf(visits: readonly Arrival[]): number {
  return (visits.at(-1)?.arrivedAt ?? 0) - (visits[0]?.arrivedAt ?? 0);
}
