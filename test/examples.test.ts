/** Runs the examples as a user would, each against a local copy of its site. */
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDemoShop, type DemoShop } from "../src/demo/demo-shop.ts";
import { jsonLines, lastJson, trawl } from "./e2e/cli.ts";
import { newFolder } from "./e2e/folder.ts";
import { listedUrls } from "./e2e/listed-urls.ts";
import { originOf } from "./e2e/sites.ts";

const ROOT = resolve(import.meta.dirname, "..");
/** The address of the shop in the examples. The tests use a free port instead. */
const SHOP_URL = "http://127.0.0.1:8321";

async function openShop(): Promise<DemoShop> {
  const shop = await createDemoShop({ port: 0 });
  onTestFinished(() => shop.close());
  return shop;
}

/** Runs an example with address `from` replaced by `to`, in a folder with the packages of this clone. */
async function runExample(name: string, from: string, to: string, env: Record<string, string> = {}) {
  const folder = newFolder();
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const text = readFileSync(join(ROOT, "examples", name), "utf8");
  expect(text).toContain(from);
  writeFileSync(join(folder, name), text.replaceAll(from, to));
  const end = await trawl(["crawl", name, "--out", "out.jsonl", "--json", "--strict"], { cwd: folder, env });
  expect(end.code, end.stderr).toBe(0);
  const records = jsonLines<Record<string, string>>(readFileSync(join(folder, "out.jsonl"), "utf8"));
  return { summary: lastJson(end), records };
}

/** The URLs of all products, from the sitemaps of the shop. */
async function productUrls(shop: DemoShop): Promise<string[]> {
  const urls = await listedUrls(shop);
  return urls.filter((url) => /\/product\//.test(url));
}

describe("the examples", () => {
  it("shop.ts emits every product once, with the category that was passed to its handler", async () => {
    const shop = await openShop();
    const { summary, records } = await runExample("shop.ts", SHOP_URL, shop.url);

    expect(summary).toMatchObject({ state: "finished", invalid: 0 });
    expect(records.map(({ _url }) => _url).sort()).toEqual((await productUrls(shop)).sort());
    // An article number starts with the first letters of its category: KIT-0101 is in Kitchen.
    for (const { sku, category } of records) expect(sku?.slice(0, 3)).toBe(category?.slice(0, 3).toUpperCase());
    expect(records[0]).toMatchObject({ price: expect.any(Number), inStock: expect.any(Boolean) });
  });

  it("shop.json emits a record for every product without visiting its page", async () => {
    const shop = await openShop();
    const { records } = await runExample("shop.json", SHOP_URL, shop.url);

    expect(records.map(({ link }) => link).sort()).toEqual((await productUrls(shop)).sort());
    expect(shop.log.filter(({ path }) => path.startsWith("/product/"))).toEqual([]);
    for (const { rating } of records) expect(rating).toEqual(expect.any(Number));
  });

  it("products-api.ts emits every product of the API, page by page", async () => {
    const shop = await openShop();
    const { records } = await runExample("products-api.ts", SHOP_URL, shop.url);

    expect(records).toHaveLength((await productUrls(shop)).length);
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    expect(records[0]).toMatchObject({ name: expect.any(String), price: expect.any(Number) });
  });

  it("stock-api.ts emits every entry of the API, and sends its key with each request", async () => {
    const shop = await openShop();
    const { records } = await runExample("stock-api.ts", SHOP_URL, shop.url, { DEMO_API_KEY: "lighthouse" });

    expect(records).toHaveLength(60);
    expect(new Set(records.map(({ id }) => id)).size).toBe(60);
    expect(records[0]).toMatchObject({ name: expect.any(String), pieces: expect.any(Number) });
    const calls = shop.log.filter(({ path }) => path.startsWith("/api/stock"));
    expect(calls).toHaveLength(63);
    expect(calls.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it("orders.json logs in once, and reads every order", async () => {
    const shop = await openShop();
    const { records } = await runExample("orders.json", SHOP_URL, shop.url, { DEMO_PASSWORD: "harbour" });

    expect(records.map(({ order }) => order).filter((order) => order !== "Orders")).toHaveLength(12);
    expect(shop.log.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it("books.ts emits the books of a page and follows the next page", async () => {
    const shelf = (title: string, next: string) =>
      `<article class="product_pod"><h3><a href="b.html" title="${title}">${title.slice(0, 5)} ...</a></h3>
       <p class="price_color">£51.77</p></article>${next}`;
    const site = await originOf({
      "/": shelf("A Light in the Attic", '<li class="next"><a href="catalogue/page-2.html">next</a></li>'),
      "/catalogue/page-2.html": shelf("Tipping the Velvet", ""),
    });
    const { records } = await runExample("books.ts", "https://books.toscrape.com", site.url);

    expect(records.map(({ title, price }) => [title, price]).sort()).toEqual([
      ["A Light in the Attic", "£51.77"],
      ["Tipping the Velvet", "£51.77"],
    ]);
  });
});
