/** Tests the sections of the form for a new job that are closed by default. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDemoShop } from "../../src/demo/demo-shop.ts";
import { closeLater } from "../api/harness.ts";
import { ended, startWorking } from "../api/working-api.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { openViewers, type Viewers } from "./browser.ts";
import { visit } from "./views.ts";

const NONE = { errors: [], violations: [], dialogs: [], refused: [] };

describe.skipIf(CHROMIUM === undefined)("the sections of the job form", () => {
  let viewers: Viewers;
  beforeAll(async () => {
    viewers = await openViewers();
  });
  afterAll(() => viewers?.close());

  it("submit a job that logs in, after a preview that logs in too", async () => {
    const shop = await createDemoShop({ port: 0 });
    closeLater(() => shop.close());
    const working = await startWorking({}, { robots: false });
    await working.startWorker();
    const viewer = await viewers.open();
    const { page } = viewer;
    const section = (title: string) => page.locator("summary").filter({ hasText: title });

    await visit(page, working.url, { path: "/jobs/new" });
    await page.getByLabel("Start URLs").fill(`${shop.url}/account/orders/`);
    expect(await page.getByLabel("Login page", { exact: true }).count()).toBe(0);
    await section("Login").click();
    await page.getByLabel("Log in before the first page").check();
    await page.getByLabel("Login fields").fill("user: demo\npassword: harbour");
    await page.getByLabel("Fields from the login page").fill("csrf: input[name=csrf]@value");
    await page.getByLabel("Cookie", { exact: true }).fill("session");
    await section("Login").click();
    await page.getByRole("button", { name: "Submit job" }).click();
    // The section of the refused field opens, and the field gets the focus.
    const loginPage = page.getByLabel("Login page", { exact: true });
    await page.locator(".field-problem").getByText("takes an absolute http(s) URL").waitFor();
    await page.waitForFunction("document.activeElement?.getAttribute('aria-invalid') === 'true'");
    // The first click after a refusal changes a checkbox, although the form is rendered again.
    await page.getByLabel("Store page bodies").check();
    expect(await page.locator("form [role=alert]").count()).toBe(0);
    await loginPage.fill(`${shop.url}/account/login/`);
    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.locator(".preview").getByText("Orders", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Submit job" }).click();
    await page.getByRole("main").getByText("finished", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Definition" }).click();
    await page.getByText("each session logs in").waitFor();

    const [, id = ""] = /jobs\/(\w+)/.exec(page.url()) ?? [];
    expect(await ended(working, id)).toMatchObject({ state: "finished", counts: { done: 1, dead: 0 } });
    // The preview and the job each have a session of their own.
    expect(shop.log.filter(({ method }) => method === "POST")).toHaveLength(2);
    expect(await page.content()).not.toContain("harbour");
    expect({ ...viewer.problems, refused: [] }).toEqual(NONE);
    await viewer.close();
  });

  it("set the same keys as the JSON, and show a job that was edited as JSON", async () => {
    const { url, request } = await startWorking({});
    const viewer = await viewers.open();
    const { page } = viewer;
    const job = {
      urls: ["https://a.example/", { url: "https://a.example/search", method: "PUT", json: { page: 1 } }],
      sitemaps: { from: ["https://a.example/sitemap.xml"], since: "7d" },
      headers: { "x-key": "env:SHOP_KEY" },
      sessions: { count: 5, per: "site", rotateAfter: 500 },
      // biome-ignore lint/suspicious/noThenProperty: a list is never taken for a promise
      proxy: { use: ["dc", "eu"], then: ["residential"], rotate: "session", region: "eu", budget: 1000 },
      retries: { max: 2, unsafe: false },
    };

    await visit(page, url, { path: "/jobs/new" });
    await page.getByRole("button", { name: "Remove title" }).click();
    await page.getByLabel("Start URLs").fill("https://a.example/");
    await page.locator("summary").filter({ hasText: "Add a request" }).click();
    await page.getByLabel("Request URL").fill("https://a.example/search");
    await page.getByLabel("Body", { exact: true }).selectOption("json");
    await page.getByLabel("Method", { exact: true }).selectOption("PUT");
    await page.getByLabel("Request body").fill("{ page");
    await page.getByText("This is not valid JSON").waitFor();
    await page.getByLabel("Request body").fill('{ "page": 1 }');
    await page.getByRole("button", { name: "Add to start URLs" }).click();
    for (const title of ["Sitemaps", "Headers", "Cookies and sessions", "Proxies", "Retries"]) {
      await page.locator(".closed-sections summary").filter({ hasText: title }).click();
    }
    await page.getByLabel("Sitemaps", { exact: true }).selectOption("list");
    await page.getByLabel("Sitemap URLs").fill("https://a.example/sitemap.xml");
    await page.getByLabel("Only pages since").fill("7d");
    await page.getByLabel("Headers of every request").fill("x-key: env:SHOP_KEY");
    await page.getByLabel("Number of sessions").fill("5");
    await page.getByLabel("A session is used at").selectOption("site");
    await page.getByLabel("Replace a session after").fill("500");
    await page.getByLabel("Use proxies with a tag").fill("dc eu");
    await page.getByLabel("After a block, use").fill("residential");
    await page.getByLabel("Change the proxy").selectOption("session");
    await page.getByLabel("Region").fill("eu");
    await page.getByLabel("Budget").fill("1000");
    await page.getByLabel("Maximum retries").fill("2");
    await page.getByLabel("Repeat requests that may change data").uncheck();
    await visit(page, url, { path: "/jobs/new?as=json" });
    expect(JSON.parse(await page.locator("textarea.json-text").inputValue())).toEqual(job);
    await page.locator("textarea.json-text").fill(JSON.stringify({ ...job, headers: { accept: "text/html" } }));
    await page.getByRole("link", { name: "Form" }).click();
    await page.locator("summary").filter({ hasText: "Headersaccept" }).click();
    expect(await page.getByLabel("Headers of every request").inputValue()).toBe("accept: text/html");
    await page.getByRole("button", { name: "Submit job" }).click();
    await page.getByRole("heading", { level: 1, name: "a.example" }).waitFor();

    const [stored] = (await request("GET", "/v1/jobs")).json.jobs as unknown as { id: string }[];
    const { json } = await request("GET", `/v1/jobs/${stored?.id}/spec`);
    expect(json.job).toMatchObject({ sessions: job.sessions, proxy: job.proxy, retries: job.retries });
    expect(viewer.problems).toEqual(NONE);
    await viewer.close();
  });
});
