import { describe, expect, it } from "vitest";
import { createExtractor, type ExtractorChoice } from "./create-extractor.ts";
import { NOINDEX } from "./page-directives.ts";

const URL_OF_PAGE = "https://a.example/list/";
const DEFAULT = { rules: undefined, links: "a[href]" };
const RULES = { rules: { title: "title", heading: "h1" }, links: "a[href]" };

function extract(choice: ExtractorChoice, html: string, headers: Record<string, string> = {}) {
  const page = {
    ...{ url: URL_OF_PAGE, status: 200, headers, contentType: "text/html", bodyBytes: html.length },
    ...{ fetchedAt: 0, tookMs: 0 },
  };
  return createExtractor(choice)({ page, html });
}

describe.each([
  ["the default record", DEFAULT],
  ["rules that need a tree", RULES],
  ["rules that need no tree", { rules: { title: "title" }, links: "a[href]" }],
])("directives of a page, with %s", (_, choice) => {
  it("name the next page: a Link header, and a <link>", () => {
    const html =
      '<link rel="prev next" href="2"><base href="/other/"><link rel="canonical" href="/c"><a href="x">x</a>';
    const headers = { link: '</style.css>; rel=preload, <3>; rel="next"' };
    expect(extract(choice, html, headers).links).toEqual([
      "https://a.example/other/x",
      "https://a.example/list/3",
      "https://a.example/other/2",
    ]);
    expect(extract({ ...choice, links: ".pages a" }, html, headers).links).toEqual([]);
    expect(extract({ ...choice, links: undefined }, html, headers).links).toEqual([]);
  });

  it("redirect by a refresh of at most 10 seconds, to another URL", () => {
    const refreshOf = (content: string, headers = {}) =>
      extract(choice, `<meta HTTP-EQUIV="Refresh" content="${content}"><p>x</p>`, headers).refresh;
    expect(refreshOf("0; url=/new")).toBe("https://a.example/new");
    expect(refreshOf("10; url='../up'")).toBe("https://a.example/up");
    expect(refreshOf("11; url=/new")).toBeUndefined();
    expect(refreshOf("0")).toBeUndefined();
    expect(refreshOf("5; url=/list/#top")).toBeUndefined();
    expect(refreshOf("0; url=javascript:x()")).toBeUndefined();
    expect(refreshOf("0; url=/new", { refresh: "1; url=/first" })).toBe("https://a.example/first");
    expect(extract(choice, "<p>x</p>", { refresh: "1; url=/first" }).refresh).toBe("https://a.example/first");
    const forOldBrowsers = '<noscript><meta http-equiv="refresh" content="0; url=/plain"></noscript>';
    expect(extract(choice, forOldBrowsers).refresh).toBeUndefined();
  });

  it("for robots are obeyed only with metaRobots", () => {
    const html = '<title>t</title><a href="/1">1</a><a href="/2" rel="ugc NoFollow">2</a>';
    const robots = (content: string) => `<meta name="Robots" content="${content}">${html}`;
    const strict = { ...choice, metaRobots: true };
    const all = ["https://a.example/1", "https://a.example/2"];
    const refused = [{ fields: {}, reason: NOINDEX }];

    expect(extract(choice, robots("none"), { "x-robots-tag": "none" })).toMatchObject({ links: all, invalid: [] });
    expect(extract(strict, html)).toMatchObject({ links: all.slice(0, 1), records: [{ title: "t" }] });
    expect(extract(strict, robots("noindex"))).toMatchObject({ links: all.slice(0, 1), records: [], invalid: refused });
    expect(extract(strict, robots("max-snippet:5, NOFOLLOW"))).toMatchObject({ links: [], records: [{ title: "t" }] });
    expect(extract(strict, robots("none"))).toMatchObject({ links: [], records: [], invalid: refused });
    const header = (text: string) => extract(strict, html, { "x-robots-tag": text });
    expect(header("noarchive, noindex")).toMatchObject({ records: [], invalid: refused });
    expect(header("otherbot: noindex, nofollow")).toMatchObject({ records: [{ title: "t" }], invalid: [] });
    expect(header("unavailable_after: 25 Jun 2030, nofollow, otherbot: noindex")).toMatchObject({
      ...{ links: [], records: [{ title: "t" }] },
    });
  });
});

describe("a page without directives", () => {
  it("is returned unchanged", () => {
    const html = '<meta http-equiv="X-UA-Compatible" content="IE=edge"><title>t</title><a href="/1">1</a>';
    expect(extract(DEFAULT, html)).toEqual({
      records: [{ title: "t", description: null, text: "1", links: ["https://a.example/1"] }],
      ...{ invalid: [], links: ["https://a.example/1"] },
    });
  });
});
