import { describe, expect, it } from "vitest";
import { MAX_REQUEST_BODY } from "../domain/request.ts";
import { entryOf, originsOf, readEntry, sitemapEntry, startEntries } from "./url-entry.ts";

const entry = (request: object) => JSON.stringify({ url: "https://a.example/x", ...request });

describe("an entry of a list of URLs", () => {
  it("is a URL, or a request as JSON", () => {
    expect(readEntry(" https://a.example/ ")).toEqual({ url: "https://a.example/" });
    expect(readEntry(entry({}))).toEqual({ url: "https://a.example/x" });
    expect(readEntry(entry({ method: "get" }))).toEqual({ url: "https://a.example/x" });
    expect(readEntry(entry({ json: [1], headers: { "X-A": "b" } }))).toEqual({
      url: "https://a.example/x",
      request: { method: "POST", headers: { "content-type": "application/json", "x-a": "b" }, body: "[1]" },
    });
    expect(readEntry(entry({ form: { a: ["1", 2], b: true } }))).toMatchObject({ request: { body: "a=1&a=2&b=true" } });
    expect(readEntry(entry({ body: "x", headers: { "Content-Type": "text/csv" } }))).toMatchObject({
      request: { headers: { "content-type": "text/csv" }, body: "x" },
    });
  });

  it.each([
    ["{", /not a valid request/],
    ['{"method":"POST"}', /url: /],
    [entry({ method: "FLY" }), /method: takes GET, HEAD/],
    [entry({ json: 1, body: "x" }), /body: cannot be combined with json/],
    [entry({ method: "HEAD", body: "x" }), /a HEAD request has no body/],
    [entry({ headers: { host: "b.example" } }), /headers.host: is a connection header/],
    [entry({ headers: { "x-a": "b\nc" } }), /headers.x-a: contains characters/],
    [entry({ unknown: 1 }), /unknown/],
  ])("names its problem: %s", (text, problem) => {
    expect(readEntry(text)).toMatchObject({ problem: expect.stringMatching(problem) });
  });

  it("has a problem if its body is larger than any setting allows", () => {
    const problem = expect.stringContaining(`more than the limit of ${MAX_REQUEST_BODY}`);
    expect(readEntry(entry({ body: "x".repeat(MAX_REQUEST_BODY + 1) }))).toMatchObject({ problem });
  });

  it("is the same after it was made from a task", () => {
    const read = readEntry(entry({ method: "PUT", form: { q: "a b" }, headers: { "x-a": "b" } }));
    if ("problem" in read) throw new Error(read.problem);
    expect(readEntry(entryOf({ ...read, url: `${read.url}#put-1` }))).toEqual(read);
  });

  it("may be a sitemap", () => {
    const sitemap = sitemapEntry("https://a.example/x");
    expect(readEntry(sitemap)).toEqual({ url: "https://a.example/x", isSitemap: true });
    expect(readEntry(entry({ sitemap: true, method: "POST" }))).toMatchObject({
      problem: expect.stringContaining("fetched by GET"),
    });
    expect(entryOf({ url: "https://a.example/x#sitemap" })).toBe(sitemap);
    expect(
      startEntries({ urls: ["https://b.example/"], sitemaps: ["https://a.example/x", "https://a.example/x"] }),
    ).toEqual([sitemap, "https://b.example/"]);
    expect(startEntries({ urls: [sitemap], sitemaps: { from: ["https://a.example/x"], since: "7d" } })).toEqual([
      sitemap,
    ]);
    expect(startEntries({ sitemaps: true })).toEqual([]);
  });

  it("has an origin, and each origin is listed once", () => {
    const entries = ["https://a.example/1", entry({}), "http://a.example/", "https://a.example:8443/", "nonsense", "{"];
    expect(originsOf(entries)).toEqual(["https://a.example", "http://a.example", "https://a.example:8443"]);
  });
});
