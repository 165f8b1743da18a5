/** Getting in, staying in and being thrown out; behind a prefix, and in many tabs at once. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeLater } from "../api/harness.ts";
import { startKeyedApi } from "../api/keyed.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { ensureDist } from "../e2e/dist.ts";
import { openViewers, type Viewer, type Viewers } from "./browser.ts";

/** More than the connections that a browser has for one server. */
const TABS = 8;

describe.skipIf(CHROMIUM === undefined)("the dashboard's door", () => {
  let viewers: Viewers;
  beforeAll(async () => {
    await ensureDist();
    viewers = await openViewers();
  }, 240_000);
  afterAll(() => viewers?.close());

  it("lets a key in behind a path prefix, says why not, and asks again where one is revoked", async () => {
    const { url, person, operator } = await startKeyedApi();
    const [somebody, other] = [await person({}), await person({ tenant: "shop" })];
    const base = await startProxy(url, "/trawl");
    const viewer = await viewers.open();
    const { page, troubles } = viewer;
    const signIn = async (key: string) => {
      await page.getByLabel("Key", { exact: true }).fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
    };

    await page.goto(`${base}/#/jobs?search=x`);
    await signIn("trawl_nonsense");
    await page.getByText("there is no such key here").waitFor();
    await signIn(somebody.key);
    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "Keys" }).count()).toBe(0); // not for this key
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();

    await operator("DELETE", `/v1/keys/${somebody.id}`);
    await page.getByText(`the key ${somebody.id} was revoked`).waitFor();
    expect(page.url()).toBe(`${base}/#/jobs?search=x`);
    await signIn(other.key);
    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Key", { exact: true }).waitFor();

    expect(await page.evaluate("sessionStorage.length + localStorage.length")).toBe(0);
    expect(troubles).toMatchObject({ errors: [], violations: [], dialogs: [] });
    expect(troubles.refused.filter((words) => !words.startsWith("401 "))).toEqual([]);
    await viewer.close();
  });

  it("is live in more tabs than a browser has connections, by one stream that the next takes over", async () => {
    const { url, ask, stop } = await startKeyedApi({ apiKeys: [] });
    await ask("POST", "/v1/jobs", { name: "one", open: true });
    const viewer = await viewers.open();
    const context = viewer.page.context();
    let streams = 0;
    context.on("request", (sent) => {
      if (sent.url().endsWith("/v1/events")) streams += 1;
    });

    const tabs = await Promise.all(Array.from({ length: TABS }, () => openTab(viewer, url)));
    expect(streams).toBe(1);
    await tabs[0]?.close();
    await viewer.page.close();
    await ask("POST", "/v1/jobs", { name: "two", open: true });
    await Promise.all(tabs.slice(1).map((tab) => tab.getByRole("link", { name: "two" }).waitFor()));
    expect(streams).toBeLessThanOrEqual(3); // and not one for each

    await stop();
    await tabs[1]?.getByText("Lost the server").waitFor();
    expect(await tabs[1]?.getByRole("link", { name: "two" }).count()).toBe(1); // what was known stays
    expect(viewer.troubles).toMatchObject({ errors: [], violations: [], dialogs: [] });
    await viewer.close();
  });
});

async function openTab(viewer: Viewer, url: string) {
  const tab = await viewer.page.context().newPage();
  await tab.goto(`${url}/`);
  await tab.getByText("live", { exact: true }).waitFor();
  await tab.getByRole("link", { name: "one" }).waitFor();
  return tab;
}

/** As a proxy in front of several servers: it takes the prefix off, and leaves the name in Host. */
async function startProxy(target: string, prefix: string): Promise<string> {
  const proxy = createServer((asked, answer) => {
    if (!asked.url?.startsWith(`${prefix}/`)) return void answer.writeHead(502).end();
    const { method = "GET", headers } = asked;
    const passed = request(target + asked.url.slice(prefix.length), { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  closeLater(async () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`;
}
