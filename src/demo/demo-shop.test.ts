import { gunzipSync } from "node:zlib";
import * as cheerio from "cheerio";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDemoShop, type DemoShop } from "./demo-shop.ts";

type Reply = { status: number; headers: Headers; body: Buffer };

/** Fetches all linked pages, also those that robots.txt disallows. The target of a redirect is treated as a link. */
async function walk(shop: DemoShop): Promise<Map<string, Reply>> {
  const replies = new Map<string, Reply>();
  const queue = ["/"];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (replies.has(path)) continue;
    let reply = await get(shop, path);
    if (reply.status === 503) reply = await get(shop, path);
    replies.set(path, reply);
    for (const link of linksOf(shop, path, reply)) if (!replies.has(link)) queue.push(link);
  }
  return replies;
}

async function get(shop: DemoShop, path: string): Promise<Reply> {
  const response = await fetch(shop.url + path, { redirect: "manual" });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

function linksOf(shop: DemoShop, path: string, { headers, body }: Reply): string[] {
  const location = headers.get("location");
  if (location !== null) return [location];
  if (!headers.get("content-type")?.startsWith("text/html")) return [];
  const $ = cheerio.load(body.toString("latin1"));
  return $("a[href]")
    .toArray()
    .map((anchor) => new URL($(anchor).attr("href") ?? "", shop.url + path))
    .filter((url) => url.origin === shop.url)
    .map((url) => url.pathname + url.search);
}

async function productPaths(shop: DemoShop): Promise<string[]> {
  const paths = await listedPaths(shop);
  return paths.filter((path) => path.startsWith("/product/"));
}

/** The paths in the files of the sitemap index. */
async function listedPaths(shop: DemoShop): Promise<string[]> {
  const listed: string[] = [];
  for (const path of await locsOf(shop, "/sitemap.xml")) listed.push(...(await locsOf(shop, path)));
  return listed;
}

async function locsOf(shop: DemoShop, path: string): Promise<string[]> {
  const { body } = await get(shop, path);
  const $ = cheerio.load((path.endsWith(".gz") ? gunzipSync(body) : body).toString(), { xml: true });
  return $("loc")
    .toArray()
    .map((loc) => $(loc).text().slice(shop.url.length));
}

describe("demo shop, crawled completely", () => {
  let shop: DemoShop;
  let replies: Map<string, Reply>;

  beforeAll(async () => {
    shop = await createDemoShop({ port: 0 });
    replies = await walk(shop);
  });
  afterAll(() => shop.close());

  const pathsWith = (wanted: (reply: Reply, path: string) => boolean) =>
    [...replies].filter(([path, reply]) => wanted(reply, path)).map(([path]) => path);

  it("links 336 products", () => {
    expect(pathsWith(({ status }, path) => status === 200 && path.startsWith("/product/"))).toHaveLength(336);
  });

  it("has one dead link and one redirect, and everything else answers 200", () => {
    expect(pathsWith(({ status }) => status === 404)).toEqual(["/catalogue/last-year/"]);
    const [redirect, ...others] = pathsWith(({ status }) => status === 301);
    expect(others).toEqual([]);
    expect(replies.get(redirect ?? "")?.headers.get("location")).toMatch(/^\/product\//);
    expect(pathsWith(({ status }) => ![200, 301, 404].includes(status))).toEqual([]);
  });

  it("lists in the sitemap exactly the pages that links reach and robots.txt allows", async () => {
    const listed = await listedPaths(shop);
    const linked = pathsWith(
      ({ status, headers }, path) =>
        status === 200 &&
        headers.get("content-type")?.startsWith("text/html") === true &&
        !path.startsWith("/checkout/"),
    );

    expect(new Set(listed).size).toBe(listed.length);
    expect([...listed].sort()).toEqual(linked.sort());
  });

  it("names the next page of a list in a Link header too", () => {
    const next = pathsWith(({ headers }) => headers.has("link"));
    expect(next.length).toBeGreaterThan(10);
    for (const path of next) {
      const { headers, body } = replies.get(path) as Reply;
      const $ = cheerio.load(body.toString());
      expect(headers.get("link")).toBe(`<${$("a[rel=next]").attr("href")}>; rel="next"`);
    }
  });

  it("links the disallowed checkout from every page", () => {
    const without = [...replies].filter(
      ([path, reply]) => linksOf(shop, path, reply).length > 0 && !linksOf(shop, path, reply).includes("/checkout/"),
    );

    expect(without.map(([path]) => path)).toEqual(pathsWith(({ status }) => status === 301));
  });

  it("has a canonical URL, one heading and a unique title on every page", () => {
    const titles = new Map<string, string>();
    for (const [path, { status, headers, body }] of replies) {
      if (status !== 200 || !headers.get("content-type")?.startsWith("text/html")) continue;
      const $ = cheerio.load(body.toString("latin1"));
      expect($("h1")).toHaveLength(1);
      if (path.startsWith("/checkout/")) continue;
      expect($("link[rel=canonical]").attr("href")).toBe(shop.url + path);
      expect(titles.get($("title").text())).toBeUndefined();
      titles.set($("title").text(), path);
    }
  });

  it("shows a price on product pages only", () => {
    const priced = [...replies].filter(([, { body }]) => body.includes('class="price"')).map(([path]) => path);

    expect(priced.filter((path) => !path.startsWith("/product/"))).toEqual([]);
    expect(priced).toHaveLength(336);
  });

  it("links all pages of every category with next links", () => {
    for (const category of pathsWith((_, path) => /^\/category\/[a-z]+\/$/.test(path))) {
      let pages = 1;
      const nextOf = (path: string) =>
        cheerio
          .load(replies.get(path)?.body.toString() ?? "")("a.next")
          .attr("href");
      for (let next = nextOf(category); next !== undefined; next = nextOf(next)) pages++;
      expect(pages).toBeGreaterThanOrEqual(3);
    }
  });
});

describe("demo shop", () => {
  let shop: DemoShop;

  beforeAll(async () => {
    shop = await createDemoShop({ port: 0 });
  });
  afterAll(() => shop.close());

  it("has the same product data in markup, structured data and OpenGraph", async () => {
    const [path] = await productPaths(shop);
    const $ = cheerio.load((await get(shop, path ?? "")).body.toString());
    const product = JSON.parse($("script[type='application/ld+json']").text());

    expect($(".price").text()).toMatch(/^£\d+\.\d\d$/);
    expect(`£${product.offers.price}`).toBe($(".price").text());
    expect(product).toMatchObject({ "@type": "Product", name: $("h1").text(), sku: $(".sku").text() });
    expect(product.aggregateRating.ratingValue.toFixed(1)).toBe($(".rating").attr("data-rating"));
    expect($("meta[property='og:title']").attr("content")).toBe($("h1").text());
    expect($("meta[property='product:price:amount']").attr("content")).toBe(product.offers.price);
    expect($("a.tag").length).toBeGreaterThanOrEqual(2);
    expect($(".breadcrumb a")).toHaveLength(2);
    expect((await get(shop, $("img.picture").attr("src") ?? "")).headers.get("content-type")).toContain(
      "image/svg+xml",
    );
  });

  it("disallows the checkout in robots.txt and names the sitemap", async () => {
    const text = (await get(shop, "/robots.txt")).body.toString();

    expect(text).toContain("User-agent: *\nDisallow: /checkout/\n");
    expect(text).toContain(`Sitemap: ${shop.url}/sitemap.xml`);
  });

  it("answers one product page with 503 and Retry-After once per run, then with the page", async () => {
    for (const run of [1, 2]) {
      const fresh = await createDemoShop({ port: 0 });
      const busy: string[] = [];
      for (const path of await productPaths(fresh)) {
        const reply = await get(fresh, path);
        if (reply.status === 200) continue;
        busy.push(path);
        expect(reply.status).toBe(503);
        expect(reply.headers.get("retry-after")).toBe("1");
        expect((await get(fresh, path)).status).toBe(200);
      }
      expect(busy, `run ${run}`).toHaveLength(1);
      await fresh.close();
    }
  });

  it("sends the café in Latin-1, declared only in the header", async () => {
    const { headers, body } = await get(shop, "/cafe/");
    const text = body.toString("latin1");

    expect(headers.get("content-type")).toBe("text/html; charset=iso-8859-1");
    expect(text.toLowerCase()).not.toContain("charset");
    expect(text).toContain("<h1>Café</h1>");
    expect(text).toContain("Müsli");
    expect(text).toContain("£4.50");
    expect(body.includes(Buffer.from([0x66, 0xe9]))).toBe(true); // "fé", one byte each
    expect(() => new TextDecoder("utf-8", { fatal: true }).decode(body)).toThrow();
  });

  it("compresses the about page only for clients that accept gzip", async () => {
    const zipped = await rawGet(shop, "/about/", "gzip");
    const plain = await rawGet(shop, "/about/", "identity");

    expect(zipped.encoding).toBe("gzip");
    expect(plain.encoding).toBeNull();
    expect(gunzipSync(zipped.body)).toEqual(plain.body);
  });

  it("keeps an access log in order of arrival, with agent, status and connection", async () => {
    const seen = shop.log.length;
    await fetch(`${shop.url}/delivery/?x=1`, { headers: { "user-agent": "tester" } }).then((reply) => reply.text());
    await fetch(`${shop.url}/nowhere`, { method: "HEAD" });
    await fetch(`${shop.url}/delivery/`, { method: "POST", body: "x" }).then((reply) => reply.text());

    const [first, second, third] = shop.log.slice(seen);
    expect(first).toMatchObject({ method: "GET", path: "/delivery/?x=1", status: 200, agent: "tester" });
    expect(second).toMatchObject({ method: "HEAD", path: "/nowhere", status: 404 });
    expect(third).toMatchObject({ method: "POST", status: 405 });
    expect(shop.log.map(({ at }) => at)).toEqual(shop.log.map(({ at }) => at).sort((a, b) => a - b));
    expect(first?.connection).toBeGreaterThan(0);
  });

  it("closes while a slow page is in progress, and can be closed twice", async () => {
    const fresh = await createDemoShop({ port: 0 });
    const slow = fetch(`${fresh.url}/workshop/`).then(
      () => "answered",
      () => "cut off",
    );
    while (fresh.log.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await fresh.close();
    await fresh.close();

    expect(await slow).toBe("cut off");
  });

  it("refuses a port in use with an error code and the port number", async () => {
    const port = Number(new URL(shop.url).port);

    await expect(createDemoShop({ port })).rejects.toMatchObject({
      code: "BAD_USAGE",
      message: expect.stringContaining(String(port)),
    });
  });
});

/** Fetches a path without decompressing the body, which `fetch` would do. */
async function rawGet(
  shop: DemoShop,
  path: string,
  accept: string,
): Promise<{ encoding: string | null; body: Buffer }> {
  const { headers, body } = await request(shop.url + path, { headers: { "accept-encoding": accept } });
  const encoding = headers["content-encoding"];
  return { encoding: typeof encoding === "string" ? encoding : null, body: Buffer.from(await body.arrayBuffer()) };
}
