/** Tests the pages for dead letters, proxies, schedules and keys. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeLater } from "../api/harness.ts";
import { ended, startWorking } from "../api/working-api.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { startProxy } from "../site/proxy.ts";
import { openViewers, type Viewers } from "./browser.ts";
import { visit } from "./views.ts";

const NONE = { errors: [], violations: [], dialogs: [], refused: [] };

describe.skipIf(CHROMIUM === undefined)("managing dead letters, proxies, schedules and keys", () => {
  let viewers: Viewers;
  beforeAll(async () => {
    viewers = await openViewers();
  });
  afterAll(() => viewers?.close());

  it("replays and discards only the selected dead letters, and shows their timeline", async () => {
    const working = await startWorking({ "/": { status: 404 }, "/two": { status: 404 }, "/shut": { status: 403 } });
    const urls = ["/", "/two", "/shut"].map((path) => working.site.url + path);
    const { json } = await working.request("POST", "/v1/jobs", { name: "Broken", urls, politeness: { robots: false } });
    await working.startWorker();
    await ended(working, json.id);
    const viewer = await viewers.open();
    const { page } = viewer;
    const letters = page.getByRole("grid", { name: "Dead letters", exact: true });

    await visit(page, working.url, { path: "/dead" });
    expect(await page.getByRole("button", { name: "Replay 3 dead letters" }).isDisabled()).toBe(true);
    await letters.getByRole("checkbox", { name: "/shut" }).check();
    await page.getByRole("button", { name: "Discard 1 selected" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard 1 dead letter" }).click();
    await page.getByText("1 dead letter discarded.").waitFor();
    await page.getByRole("grid", { name: "Groups" }).getByText("http_status").first().click();
    await page.getByRole("button", { name: "Replay 2 dead letters" }).waitFor();
    expect(page.url()).toContain("status=404");
    await page.getByRole("button", { name: "Replay 2 dead letters" }).click();
    // At 1 per second, the second dead letter has not failed again when the list is reloaded.
    await page.getByLabel("Rate per second").fill("1");
    await page.getByRole("dialog").getByRole("button", { name: "Replay 2 dead letters" }).click();
    await page.getByText("URLs that fail again return to this list.").waitFor();
    await letters.getByText("/two").waitFor();
    await page.getByRole("button", { name: "Replay 2 dead letters" }).waitFor();
    await page.getByText("2 dead letters", { exact: true }).waitFor();
    expect(await letters.getByRole("row").nth(1).innerText()).toMatch(/\/two.*Broken/s);
    await letters.getByText("/two").click();
    await page.getByRole("dialog").getByText("answered 404").waitFor();
    await page.getByRole("dialog").getByRole("link", { name: "Timeline" }).click();
    await page
      .getByText(/failed permanently after/)
      .first()
      .waitFor();

    const { groups } = (await working.request("GET", "/v1/dead?group=true")).json;
    expect(groups).toMatchObject([{ status: 404, count: 2 }]);
    expect(viewer.problems).toEqual(NONE);
    await viewer.close();
  });

  it("shows how proxies work at each site, and finds those that are ejected", async () => {
    const [works, dead] = await Promise.all([startProxy(), startProxy({ address: "127.0.0.9" })]);
    dead.mode = "dead";
    for (const proxy of [works, dead]) closeLater(() => proxy.close());
    const proxies = [
      { url: works.url, provider: "acme", tags: ["dc"], cost: 2 },
      { url: dead.url, provider: "bee", tags: ["residential"] },
    ];
    const pages = Array.from({ length: 12 }, (_, nth) => `/${nth}`);
    const content = Object.fromEntries(pages.map((path) => [path, "<h1>page</h1>"]));
    const working = await startWorking(content, { proxies, robots: false });
    const urls = pages.map((path) => working.site.url + path);
    const { json: job } = await working.request("POST", "/v1/jobs", { urls });
    await working.startWorker();
    await ended(working, job.id);
    const viewer = await viewers.open();
    const { page } = viewer;

    await visit(page, working.url, { path: "/proxies" });
    const sites = page.getByRole("grid", { name: "Providers by site" });
    const ofAcme = sites.getByRole("row").filter({ hasText: "acme" });
    await ofAcme.getByText("healthy").waitFor();
    expect(await ofAcme.innerText()).toMatch(new RegExp(`${working.site.site}.*100 %`, "s"));
    await page.getByRole("button", { name: "By proxy" }).click();
    const all = page.getByRole("grid", { name: "Proxies" });
    await all.getByText("127.0.0.9").waitFor();
    await page.getByRole("button", { name: "Ejected" }).click();
    await all.getByText("healthy").waitFor({ state: "detached" });
    expect(await all.getByRole("row").nth(1).innerText()).toMatch(/127\.0\.0\.9.*(ejected|probation)/s);
    await page.getByLabel("Search proxies").fill("acme");
    await page.getByText("No rows match.").waitFor();

    expect(viewer.problems).toEqual(NONE);
    await viewer.close();
  });

  it("explains how to set up proxies if there are none", async () => {
    const { url } = await startWorking({});
    const viewer = await viewers.open();

    await visit(viewer.page, url, { path: "/proxies" });

    await viewer.page.getByText("No proxies are set up.").waitFor();
    expect(viewer.problems).toEqual(NONE);
    await viewer.close();
  });

  it("creates a schedule, shows its next runs while typing, and runs it", async () => {
    const { url, request } = await startWorking({});
    const viewer = await viewers.open();
    const { page } = viewer;

    await visit(page, url, { path: "/schedules/new" });
    await page.getByLabel("Cron expression").fill("nonsense");
    await page
      .locator(".field-problem")
      .getByText(/^"nonsense" cannot be parsed/)
      .waitFor();
    expect(await page.getByLabel("Cron expression").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("button", { name: "Create schedule" }).isDisabled()).toBe(true);
    await page.getByLabel("Cron expression").fill("30 6 * * *");
    await page.getByLabel("Time zone").fill("Asia/Tokyo");
    await page
      .getByText(/:30:00/)
      .nth(4)
      .waitFor();
    await page.getByLabel("Name").fill("Tokyo, every morning");
    await page.getByLabel("Job").fill('{ "urls": [] }');
    await page.getByRole("button", { name: "Create schedule" }).click();
    await page.locator(".field-problem").getByText("at least one start URL").waitFor();
    await page.getByLabel("Job").fill('{ "urls": ["https://a.example/"] }');
    await page.getByRole("button", { name: "Create schedule" }).click();
    await page.getByRole("heading", { level: 1, name: "Tokyo, every morning" }).waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("grid", { name: "Recent runs" }).getByText("fired").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("The schedule is paused.").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await visit(page, url, { path: "/schedules" });

    expect(await page.locator(".week").getByText("Tokyo, every morning").count()).toBeGreaterThanOrEqual(6);
    expect((await request("GET", "/v1/jobs")).json.jobs).toMatchObject([{ state: "running" }]);
    expect({ ...viewer.problems, refused: [] }).toEqual(NONE);
    expect(viewer.problems.refused.every((line) => line.startsWith("400 "))).toBe(true);
    await viewer.close();
  });

  it("creates the first key of an open server, shows it once, and signs in with it", async () => {
    const { url, request } = await startWorking({});
    const viewer = await viewers.open();
    const { page } = viewer;
    const create = async (name: string) => {
      await page.getByRole("button", { name: "New key" }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Create key" }).click();
      const secret = await page.locator(".secret").textContent();
      await page.getByRole("button", { name: "Done" }).click();
      return secret ?? "";
    };

    await visit(page, url, { path: "/keys" });
    await page.getByText("This server requires no key.").waitFor();
    const first = await create("mine");
    const second = await create("theirs");
    await page.getByRole("button", { name: "Revoke theirs" }).click();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("revoked").waitFor();

    expect((await request("GET", "/v1/jobs")).status).toBe(401);
    const listKeys = (key: string) => request("GET", "/v1/keys", undefined, { authorization: `Bearer ${key}` });
    expect((await listKeys(first)).status).toBe(200);
    expect((await listKeys(second)).status).toBe(401);
    expect(await page.content()).not.toContain(first);
    expect(viewer.problems).toEqual(NONE);
    await viewer.close();
  });
});
