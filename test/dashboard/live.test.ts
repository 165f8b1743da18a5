/** Performs user actions in a real browser on a real fleet, and checks what the fleet and the sites received. */
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
import { visit } from "./views.ts";

const START_MS = 300_000;
const NONE = { errors: [], violations: [], dialogs: [], refused: [] };

/** The time between two requests at 2/s. A hundred requests at this rate take longer than the timeout. */
const SLOW_MS = 500;
/** The first request may be late on a busy machine. */
const LATE_MS = 400;
const TIMEOUT_MS = 25_000;

describe.skipIf(CHROMIUM === undefined)("the dashboard on a running fleet", () => {
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

  it("submits a job with the form after a preview, and shows its progress and records live", async () => {
    await open();
    await visit(page, stage.url, { path: "/jobs/new" });
    await page.getByLabel("Name", { exact: true }).first().fill("One shelf");
    await page.getByLabel("Start URLs").fill("http://books.example/shelf/1");
    await page.getByLabel("Follow links").check();
    await page.getByLabel("Rate", { exact: true }).fill("20/s");
    await page.getByRole("button", { name: "Add field" }).click();
    await page.getByPlaceholder("name", { exact: true }).last().fill("heading");
    await page.getByLabel("Selector of heading").fill("h1");
    // The error is shown only at its field and disappears when the field changes.
    const [urls, submit] = [page.getByLabel("Start URLs"), page.getByRole("button", { name: "Submit job" })];
    await urls.fill("");
    await submit.click();
    await page.getByText("the job has no URLs").waitFor();
    expect(await page.locator("form [role=alert]").count()).toBe(0);
    await urls.fill("http://books.example/shelf/1");
    await page.getByText("the job has no URLs").waitFor({ state: "detached" });
    // The draft survives a visit to another page.
    await visit(page, stage.url, { path: "/jobs" });
    await visit(page, stage.url, { path: "/jobs/new" });
    await page.getByRole("button", { name: "Reset" }).waitFor();
    expect(await page.getByLabel("Selector of heading").inputValue()).toBe("h1");
    await page.getByRole("button", { name: "Fetch page" }).click();
    const preview = page.locator(".preview");
    await preview.getByText("Shelf 1", { exact: true }).first().waitFor();
    await page.getByLabel("Selector of heading").fill("a");
    await preview.getByText("book 1", { exact: true }).waitFor();
    // The preview updates without another request to the site.
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
    expect(viewer.problems).toEqual({ ...NONE, refused: [expect.stringMatching(/^400 POST \S+\/v1\/jobs$/)] });
  });

  it("deletes the job of a preview that is cancelled or fails", async () => {
    stage.web.serve("stuck.example", () => ({ ...okPage("late", ""), delayMs: TIMEOUT_MS }));
    await open();
    await visit(page, stage.url, { path: "/jobs/new" });
    const previews = async () => (await stage.api.listJobs({ q: "Preview of" })).jobs.length;

    await page.getByLabel("Page URL").fill("http://stuck.example/");
    await page.getByRole("button", { name: "Fetch page" }).click();
    expect(await waitUntil(async () => (await previews()) === 1, TIMEOUT_MS)).toBe(true);
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await waitUntil(async () => (await previews()) === 0, TIMEOUT_MS)).toBe(true);

    await page.getByLabel("Page URL").fill("http://archive.example/broken/1");
    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.getByText("The page could not be fetched: retries_spent").waitFor();
    expect(await waitUntil(async () => (await previews()) === 0, TIMEOUT_MS)).toBe(true);
    // The job is hidden at once; its dead letters are removed after that.
    const letters = async () => (await stage.api.dead.groups({ site: "archive.example" })).letters;
    expect(await waitUntil(async () => (await letters()) === 0, TIMEOUT_MS)).toBe(true);

    await page.getByLabel("Page URL").fill("nowhere");
    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.locator(".preview .field-problem").getByText("not an absolute http(s) URL").waitFor();
    expect(viewer.problems).toEqual(NONE);
  });

  it("shows the refused URLs and the webhook secret after a submission", async () => {
    await open();
    await visit(page, stage.url, { path: "/jobs/new?as=json" });
    const job = { name: "Not all", urls: ["http://books.example/", "ftp://books.example/", "http://books.example/"] };
    const webhook = { url: "http://hooks.example/in" };
    await page.locator("textarea.json-text").fill(JSON.stringify({ ...job, webhook, politeness: { robots: false } }));

    await page.getByRole("button", { name: "Submit job" }).click();

    const note = page.getByRole("status").filter({ hasText: "1 of 3 URLs was accepted" });
    await note.getByText("1 duplicate, 1 invalid").waitFor();
    await note.getByText("Line 2, ftp://books.example/").waitFor();
    expect(await note.locator("pre").innerText()).toMatch(/^whsec_/);
    await note.getByRole("button", { name: "Close" }).click();
    await note.waitFor({ state: "detached" });
    expect(viewer.problems).toEqual(NONE);
  });

  it("replays dead letters, which succeed after their site is repaired", async () => {
    let isRepaired = false;
    stage.web.serve("repaired.example", (path) =>
      isRepaired ? okPage(path, "") : { status: 500, body: "the database is away" },
    );
    const urls = Array.from({ length: 6 }, (_, nth) => `http://repaired.example/${nth}`);
    const politeness = { rate: "unlimited", robots: false } as const;
    const job = await stage.api.submit({ name: "Repaired", urls, politeness, retries: { max: 0 } });
    await job.wait();
    isRepaired = true;
    await open();
    await visit(page, stage.url, { path: `/dead?job=${job.id}` });

    await page.getByRole("button", { name: "Replay 6 dead letters" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Replay 6 dead letters" }).click();

    await page.getByText("6 dead letters replayed").waitFor();
    await page.getByText("No dead letters match.").waitFor();
    expect(await job.wait()).toMatchObject({ state: "finished", counts: { done: 6, dead: 0 } });
    expect(stage.web.visitsOf("repaired.example").map(({ status }) => status)).toEqual([
      ...Array(6).fill(500),
      ...Array(6).fill(200),
    ]);
    expect(viewer.problems).toEqual(NONE);
  });

  it("changes the rate of a site during a crawl, as the access log of the site shows", async () => {
    stage.web.serve("rated.example", (path) => okPage(path, ""));
    const urls = Array.from({ length: 400 }, (_, nth) => `http://rated.example/${nth}`);
    const job = await stage.api.submit({ urls, politeness: { rate: "2/s", robots: false } });
    await open();
    await visit(page, stage.url, { path: "/sites/rated.example" });
    expect(await page.title()).toBe("rated.example · Trawl");
    const visits = () => stage.web.visitsOf("rated.example");
    await waitUntil(() => visits().length >= 6, TIMEOUT_MS);
    const before = visits();
    expect(spanOf(before)).toBeGreaterThan((before.length - 1) * SLOW_MS - LATE_MS);

    await page.getByLabel("Rate", { exact: true }).fill("50/s");
    await page.getByRole("button", { name: "Set override" }).click();

    const isFast = () => visits().length >= before.length + 100;
    expect(await waitUntil(isFast, TIMEOUT_MS)).toBe(true);
    expect(spanOf(visits().slice(before.length))).toBeLessThan(100 * SLOW_MS);
    await job.cancel();
    await stage.api.sites.unset("rated.example");
    expect(viewer.problems).toEqual(NONE);
  });

  it("shows a killed worker as lost, and drains another with its button", async () => {
    const alone = ["--queues", "lonely", "--pool", "solo"];
    const [lone, drained] = await Promise.all([stage.worker(alone), stage.worker(alone)]);
    await open();
    await visit(page, stage.url, { path: "/workers" });
    const row = page.getByRole("row").filter({ hasText: `/${lone.pid}` });
    await row.getByText(/idle|working/).waitFor();

    lone.kill("SIGKILL");
    await page.getByRole("button", { name: new RegExp(`^Drain .*/${drained.pid}$`) }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();

    expect((await drained.ended).code).toBe(0);
    const left = page.getByRole("row").filter({ hasText: `/${drained.pid}` });
    await left.getByText(/^stopped /).waitFor();
    await row.getByText(/^lost /).waitFor({ timeout: 40_000 });
    expect(viewer.problems).toEqual(NONE);
  });

  it("shows a lost connection, keeps the last state, and reconnects automatically", async () => {
    await open();
    await visit(page, stage.url, { path: "/workers" });
    await page.getByText("live", { exact: true }).waitFor();
    const drain = page.getByRole("button", { name: /^Drain / }).first();
    expect(await drain.isEnabled()).toBe(true);
    const unanswered = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/workers"));
    await stage.server.kill();
    await page.getByText("Connection lost").waitFor();
    await unanswered;
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Workers");
    expect([await drain.isDisabled(), await page.getByRole("alert").count()]).toEqual([true, 0]);
    await stage.server.restart();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByText("Connection lost").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Overview" }).click();
    const { id } = await stage.api.submit({
      name: "After the restart",
      urls: ["http://books.example/"],
      queue: "unserved",
    });

    await page.getByRole("main").getByText("After the restart").waitFor();

    await stage.api.job(id).cancel();
    expect(viewer.problems).toMatchObject({ ...NONE, refused: expect.any(Array) });
  });

  it("shows an active job that is older than many others, until its end, and reports its deletion", async () => {
    const job = await stage.api.submit({ name: "Behind", urls: ["http://books.example/"], queue: "unserved" });
    await addEnded(stage.folder, 210);
    await open();
    await visit(page, stage.url, { path: "/" });
    await page.getByRole("main").getByText("Behind", { exact: true }).waitFor();
    await visit(page, stage.url, { path: "/jobs" });
    await page.getByRole("button", { name: /^running [1-9]/ }).waitFor();
    // Without a count, because there are more finished jobs than the event stream contains.
    await page.getByRole("button", { name: "finished", exact: true }).waitFor();
    await visit(page, stage.url, { path: `/jobs/${job.id}` });
    const subtitle = page.locator(".job-subtitle");
    await subtitle.getByText("running").waitFor();

    await job.cancel();
    await subtitle.getByText("cancelled").waitFor();
    await job.delete();
    await page.getByText("This job was deleted.").waitFor();

    expect(viewer.problems).toMatchObject({ violations: [], dialogs: [] });
  });
});

/** Creates jobs that end immediately. */
async function addEnded(folder: string, many: number): Promise<void> {
  const options = { maxPending: 1, busyMs: 30_000, pollMs: 1_000 };
  const frontier = openSqliteFrontier(join(folder, ".trawl/broker.db"), { clock: systemClock() }, options);
  for (let nth = 0; nth < many; nth++) {
    await frontier.createJob(aJob({ id: `ended${nth}` }));
    await frontier.seal(`ended${nth}`);
  }
  await frontier.close();
}

/** Time from the first to the last request, as the site recorded it. */
function spanOf(visits: readonly Arrival[]): number {
  return (visits.at(-1)?.arrivedAt ?? 0) - (visits[0]?.arrivedAt ?? 0);
}
