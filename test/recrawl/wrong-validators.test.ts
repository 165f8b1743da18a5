/** Servers that answer conditional requests wrongly, or send unusable validators. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { JobInput } from "../../src/submit/job-schema.ts";
import { type Answer, type ChangingPage, type ChangingSite, startChangingSite } from "./changing-site.ts";
import { openWorld } from "./world.ts";

/** Sends these headers with every page, and never answers 304. */
function always(headers: Record<string, string>): Answer {
  return (_, response, html) => void response.writeHead(200, { "content-type": "text/html", ...headers }).end(html);
}

async function prepare(page: ChangingPage, settings: Record<string, unknown> = {}) {
  const site = await startChangingSite({ "/": page });
  onTestFinished(() => site.origin.close());
  const world = await openWorld(settings);
  const crawl = (more: JobInput = {}) =>
    world.crawl({ urls: [site.url], recrawl: { set: "s", emit: "changed" }, ...more });
  return { site, crawl, world };
}

const lastOf = (site: ChangingSite) => site.takeVisits().map(({ etag, since, status }) => ({ etag, since, status }));
const IN_FULL = { etag: undefined, since: undefined, status: 200 };

describe("a server that", () => {
  it("answers 304 to every request leads to a dead letter, never to an empty page", async () => {
    const { site, crawl } = await prepare({ title: "x", by: (_, response) => void response.writeHead(304).end() });

    for (const job of [await crawl(), await crawl()]) {
      expect(job).toMatchObject({ pages: [], titles: [], dead: ["/ 304"], job: { state: "failed" } });
    }
    expect(lastOf(site)).toEqual([1, 2].map(() => ({ ...IN_FULL, status: 304 })));
  });

  it("answers 304 with another ETag gets a second request without a condition", async () => {
    const { site, crawl } = await prepare({
      title: "one",
      by: (request, response, html) => {
        if (request.headers["if-none-match"] === undefined) return always({ etag: '"1"' })(request, response, html);
        response.writeHead(304, { etag: '"2"' }).end();
      },
    });
    await crawl();
    site.takeVisits();
    site.pages.set("/", { ...(site.pages.get("/") as ChangingPage), title: "two" });

    expect((await crawl()).titles).toEqual(["two"]);
    expect(lastOf(site)).toEqual([{ etag: '"1"', since: undefined, status: 304 }, IN_FULL]);
  });

  it("changes the ETag of the same page each time has its pages compared by records", async () => {
    let version = 0;
    const by: Answer = (request, response, html) => {
      version += 1;
      always({ etag: `"${version}"` })(request, response, html);
    };
    const { site, crawl } = await prepare({ title: "x", by });
    await crawl();

    expect(await crawl()).toMatchObject({ titles: [], pages: [{ status: 200, unchanged: true }] });
    expect(await crawl()).toMatchObject({ titles: [], pages: [{ status: 200, unchanged: true }] });
    expect(lastOf(site).map(({ etag }) => etag)).toEqual([undefined, '"1"', '"2"']);
  });

  it.each([
    ["an empty ETag", { etag: "" }],
    ["an ETag without content", { etag: '""' }],
    ["an ETag of 5 KB", { etag: `"${"x".repeat(5_000)}"` }],
    ["an ETag without a closing quote", { etag: '"x' }],
    ["an invalid date", { "last-modified": "yesterday" }],
    ["the date 0", { "last-modified": "0" }],
    ["a date in the future", { "last-modified": "Fri, 31 Dec 2100 23:59:59 GMT" }],
    [
      "a date that equals the date of the response",
      { "last-modified": "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:37 GMT" },
    ],
  ])("sends %s gets requests without a condition, and its pages are compared", async (_, headers) => {
    const { site, crawl } = await prepare({ title: "one", by: always(headers) });
    await crawl();
    expect((await crawl()).titles).toEqual([]);
    site.pages.set("/", { title: "two", by: always(headers) });
    expect((await crawl()).titles).toEqual(["two"]);

    expect(lastOf(site)).toEqual([IN_FULL, IN_FULL, IN_FULL]);
  });

  it("sends an unusual ETag gets it back unchanged", async () => {
    const { site, crawl } = await prepare({
      title: "one",
      by: always({ etag: "bare-1", "last-modified": "Sun, 06 Nov 1994 08:49:37 GMT" }),
    });
    await crawl();
    await crawl();

    expect(lastOf(site)[1]).toEqual({ etag: "bare-1", since: "Sun, 06 Nov 1994 08:49:37 GMT", status: 200 });
  });

  it("fails once does not change the page memory", async () => {
    const { site, crawl } = await prepare({ title: "one" });
    await crawl();
    site.pages.set("/", { title: "one", by: (_, response) => void response.writeHead(500).end() });
    expect(await crawl()).toMatchObject({ titles: [], dead: ["/ 500"] });
    site.pages.set("/", { title: "one" });
    site.takeVisits();

    expect(await crawl()).toMatchObject({ titles: [], pages: [{ status: 304 }] });
  });

  it("redirects for a while leads to a new record when the page returns", async () => {
    const { site, crawl } = await prepare({ title: "one" });
    await crawl();
    const redirect: Answer = (_, response) => void response.writeHead(302, { location: "/elsewhere" }).end();
    site.pages.set("/", { title: "one", by: redirect });
    site.pages.set("/elsewhere", { title: "two" });
    expect((await crawl()).titles).toEqual(["two"]);
    site.pages.set("/", { title: "one" });

    expect((await crawl()).titles).toEqual(["one"]);
  });
});

describe("a page is fetched in full if", () => {
  it("the rules have changed, and is still compared with its memory", async () => {
    const { site, crawl } = await prepare({ title: "one" });
    await crawl();
    await crawl();
    const rules = { extract: { title: "h1", about: "title" } };
    expect((await crawl(rules)).titles).toEqual(["one"]);
    expect((await crawl(rules)).titles).toEqual([]);

    expect(lastOf(site).map(({ status }) => status)).toEqual([200, 304, 200, 304]);
  });

  it("the request headers have changed, and still counts as unchanged", async () => {
    const { site, crawl } = await prepare({ title: "one" });
    await crawl();
    expect((await crawl({ headers: { "accept-language": "de" } })).titles).toEqual([]);

    expect(lastOf(site)).toEqual([IN_FULL, IN_FULL]);
  });

  it("the job has its own conditional headers, which have priority", async () => {
    const { site, crawl } = await prepare({ title: "one" });
    const headers = { "if-none-match": '"mine"' };
    await crawl({ headers });
    expect((await crawl({ headers })).titles).toEqual([]);

    expect(lastOf(site)).toEqual([1, 2].map(() => ({ etag: '"mine"', since: undefined, status: 200 })));
  });

  it("its content is larger than the limit of the page memory", async () => {
    const { site, crawl } = await prepare({ title: "long ".repeat(100) }, { recrawlBytes: 300 });
    await crawl();
    expect((await crawl()).titles).toEqual([]);
    site.pages.set("/", { title: "short" });
    expect((await crawl()).titles).toEqual(["short"]);
    await crawl();

    expect(lastOf(site).map(({ status }) => status)).toEqual([200, 200, 200, 304]);
  });
});
