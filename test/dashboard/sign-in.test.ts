/** Tests sign-in, revoked keys, a path prefix, and many tabs. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeLater } from "../api/harness.ts";
import { startKeyedApi } from "../api/keyed-api.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { openViewers, type Viewer, type Viewers } from "./browser.ts";

/** More than the connections that a browser opens to one server. */
const TABS = 8;

describe.skipIf(CHROMIUM === undefined)("signing in to the dashboard", () => {
  let viewers: Viewers;
  beforeAll(async () => {
    viewers = await openViewers();
  });
  afterAll(() => viewers?.close());

  it("works behind a path prefix, explains a refused key, and asks for a key again after it is revoked", async () => {
    const { url, newCaller, operator } = await startKeyedApi();
    const [user, other] = [await newCaller({}), await newCaller({ tenant: "shop" })];
    const base = await startProxy(url, "/trawl");
    const viewer = await viewers.open();
    const { page, problems } = viewer;
    const signIn = async (key: string) => {
      await page.getByLabel("Key", { exact: true }).fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
    };

    await page.goto(`${base}/#/jobs?search=x`);
    await signIn("trawl_nonsense");
    await page.getByText("the key is unknown").waitFor();
    await signIn(user.key);
    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "Keys" }).count()).toBe(0); // needs the scope admin
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();

    await operator("DELETE", `/v1/keys/${user.id}`);
    await page.getByText(`the key ${user.id} was revoked`).waitFor();
    expect(page.url()).toBe(`${base}/#/jobs?search=x`);
    await signIn(other.key);
    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Key", { exact: true }).waitFor();

    expect(await page.evaluate("sessionStorage.length + localStorage.length")).toBe(0);
    expect(problems).toMatchObject({ errors: [], violations: [], dialogs: [] });
    expect(problems.refused.filter((line) => !line.startsWith("401 "))).toEqual([]);
    await viewer.close();
  });

  it("shares one event stream between many tabs, and moves it to another tab when its tab closes", async () => {
    const { url, request, stop } = await startKeyedApi({ apiKeys: [] });
    await request("POST", "/v1/jobs", { name: "one", open: true });
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
    await request("POST", "/v1/jobs", { name: "two", open: true });
    await Promise.all(tabs.slice(1).map((tab) => tab.getByRole("link", { name: "two" }).waitFor()));
    expect(streams).toBeLessThanOrEqual(3); // not one per tab

    await stop();
    await tabs[1]?.getByText("Connection lost").waitFor();
    expect(await tabs[1]?.getByRole("link", { name: "two" }).count()).toBe(1); // the last known state stays
    expect(viewer.problems).toMatchObject({ errors: [], violations: [], dialogs: [] });
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

/** A reverse proxy that removes the prefix and keeps the Host header. */
async function startProxy(target: string, prefix: string): Promise<string> {
  const proxy = createServer((incoming, response) => {
    if (!incoming.url?.startsWith(`${prefix}/`)) return void response.writeHead(502).end();
    const { method = "GET", headers } = incoming;
    const forwarded = request(target + incoming.url.slice(prefix.length), { method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
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
