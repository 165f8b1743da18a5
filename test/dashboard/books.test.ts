/** The dashboard's books: dead letters picked and dealt with, schedules, keys, and why something waits. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ended, startWorking } from "../api/work.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { ensureDist } from "../e2e/dist.ts";
import { openViewers, type Viewers } from "./browser.ts";
import { visit } from "./tour.ts";

const NONE = { errors: [], violations: [], dialogs: [], refused: [] };

describe.skipIf(CHROMIUM === undefined)("the dashboard's books", () => {
  let viewers: Viewers;
  beforeAll(async () => {
    await ensureDist();
    viewers = await openViewers();
  }, 240_000);
  afterAll(() => viewers?.close());

  it("deals with the letters that were picked and no others, and tells how each went", async () => {
    const working = await startWorking({ "/": { status: 404 }, "/two": { status: 404 }, "/shut": { status: 403 } });
    const urls = ["/", "/two", "/shut"].map((path) => working.site.url + path);
    const { json } = await working.ask("POST", "/v1/jobs", { name: "Broken", urls, politeness: { robots: false } });
    await working.startWorker();
    await ended(working, json.id);
    const viewer = await viewers.open();
    const { page } = viewer;
    const letters = page.getByRole("grid", { name: "Dead letters", exact: true });

    await visit(page, working.url, { place: "/dead" });
    expect(await page.getByRole("button", { name: "Replay 3 letters" }).isDisabled()).toBe(true);
    await letters.getByRole("checkbox", { name: "/shut" }).check();
    await page.getByRole("button", { name: "Discard 1 picked" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard 1 letter" }).click();
    await page.getByText("1 letter discarded.").waitFor();
    await page.getByRole("grid", { name: "Groups" }).getByText("http_status").first().click();
    await page.getByRole("button", { name: "Replay 2 letters" }).waitFor();
    expect(page.url()).toContain("status=404");
    await page.getByRole("button", { name: "Replay 2 letters" }).click();
    // One now, and one that is not back yet when the list is read anew.
    await page.getByLabel("How many a second").fill("1");
    await page.getByRole("dialog").getByRole("button", { name: "Replay 2 letters" }).click();
    await page.getByText("What fails again comes back here.").waitFor();
    await letters.getByText("/two").waitFor();
    await page.getByRole("button", { name: "Replay 2 letters" }).waitFor();
    await page.getByText("2 letters", { exact: true }).waitFor();
    expect(await letters.getByRole("row").nth(1).innerText()).toMatch(/\/two.*Broken/s);
    await letters.getByText("/two").click();
    await page.getByRole("dialog").getByText("answered 404").waitFor();
    await page.getByRole("dialog").getByRole("link", { name: "How it went" }).click();
    await page
      .getByText(/failed for good after/)
      .first()
      .waitFor();

    const { groups } = (await working.ask("GET", "/v1/dead?group=true")).json;
    expect(groups).toMatchObject([{ status: 404, count: 2 }]);
    expect(viewer.troubles).toEqual(NONE);
    await viewer.close();
  });

  it("makes a schedule, whose next runs are shown while it is written, and runs it", async () => {
    const { url, ask } = await startWorking({});
    const viewer = await viewers.open();
    const { page } = viewer;

    await visit(page, url, { place: "/schedules/new" });
    await page.getByLabel("Cron").fill("nonsense");
    await page
      .locator(".field-problem")
      .getByText(/^"nonsense" cannot be read/)
      .waitFor();
    expect(await page.getByLabel("Cron").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("button", { name: "Make the schedule" }).isDisabled()).toBe(true);
    await page.getByLabel("Cron").fill("30 6 * * *");
    await page.getByLabel("Time zone").fill("Asia/Tokyo");
    await page
      .getByText(/:30:00/)
      .nth(4)
      .waitFor();
    await page.getByLabel("Name").fill("Tokyo, every morning");
    await page.getByLabel("Job").fill('{ "urls": [] }');
    await page.getByRole("button", { name: "Make the schedule" }).click();
    await page.locator(".field-problem").getByText("give at least one").waitFor();
    await page.getByLabel("Job").fill('{ "urls": ["https://a.example/"] }');
    await page.getByRole("button", { name: "Make the schedule" }).click();
    await page.getByRole("heading", { level: 1, name: "Tokyo, every morning" }).waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("grid", { name: "Last runs" }).getByText("fired").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("the runs it would have").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await visit(page, url, { place: "/schedules" });

    expect(await page.locator(".week").getByText("Tokyo, every morning").count()).toBeGreaterThanOrEqual(6);
    expect((await ask("GET", "/v1/jobs")).json.jobs).toMatchObject([{ state: "running" }]);
    expect({ ...viewer.troubles, refused: [] }).toEqual(NONE);
    expect(viewer.troubles.refused.every((words) => words.startsWith("400 "))).toBe(true);
    await viewer.close();
  });

  it("makes the first key of an open server, shows it once, and goes on with it", async () => {
    const { url, ask } = await startWorking({});
    const viewer = await viewers.open();
    const { page } = viewer;
    const make = async (name: string) => {
      await page.getByRole("button", { name: "New key" }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Make the key" }).click();
      const secret = await page.locator(".secret").textContent();
      await page.getByRole("button", { name: "I have it" }).click();
      return secret ?? "";
    };

    await visit(page, url, { place: "/keys" });
    await page.getByText("This server asks nobody for a key.").waitFor();
    const first = await make("mine");
    const second = await make("theirs");
    await page.getByRole("button", { name: "Revoke theirs" }).click();
    await page.getByRole("button", { name: "Revoke it" }).click();
    await page.getByText("revoked").waitFor();

    expect((await ask("GET", "/v1/jobs")).status).toBe(401);
    const asked = (key: string) => ask("GET", "/v1/keys", undefined, { authorization: `Bearer ${key}` });
    expect((await asked(first)).status).toBe(200);
    expect((await asked(second)).status).toBe(401);
    expect(await page.content()).not.toContain(first);
    expect(viewer.troubles).toEqual(NONE);
    await viewer.close();
  });
});
