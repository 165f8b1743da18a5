import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Page } from "../domain/page.ts";
import { createDefaultExtractor, TEXT_CHARS } from "./default-record.ts";

const SHOP = `<!doctype html>
<html lang="en"><head>
  <meta charset="utf-8">
  <title>
    Sourdough &amp; rye —
    Corner Bakery </title>
  <meta property="og:description" content="For the share box">
  <meta name="Description" content=" Bread,  baked daily. ">
  <style>body { color: red }</style>
  <script>var hidden = "<p>not text</p>";</script>
</head><body>
  <nav><a href="/">Home</a> <a href="/breads#top">Breads</a></nav>
  <svg><title>Loaf</title><text>drawn</text></svg>
  <h1>Our<br>breads</h1><p>Rye, <b>wheat</b>&nbsp;and spelt.</p><ul><li>One</li><li>Two</li></ul>
  <noscript>Please enable JavaScript</noscript><template><p>Later</p></template>
  <a href="breads">Breads again</a> <a href="mailto:hi@bakery.example">Mail</a> <a name="x">No link</a>
  <a href="#menu">Menu</a> <a href="https://other.example/partner?x=1">Partner</a>
</body></html>`;

describe("the record of a page without rules", () => {
  it("contains title, description, visible text and links", () => {
    expect(extract(SHOP)).toEqual({
      records: [
        {
          title: "Sourdough & rye — Corner Bakery",
          description: "Bread, baked daily.",
          text: "Home Breads Our breads Rye, wheat and spelt. One Two " + "Breads again Mail No link Menu Partner",
          links: ["https://bakery.example/", "https://bakery.example/breads", "https://other.example/partner?x=1"],
        },
      ],
      invalid: [],
      links: ["https://bakery.example/", "https://bakery.example/breads", "https://other.example/partner?x=1"],
    });
  });

  it("lists links, but returns none to follow if links are not followed", () => {
    const { records, links } = createDefaultExtractor({ followLinks: false })({ page: aPage(), html: SHOP });

    expect(links).toEqual([]);
    expect(records[0]?.links).toHaveLength(3);
  });

  it("has null for a title or description that is missing or empty", () => {
    expect(record("<p>Hi")).toEqual({ title: null, description: null, text: "Hi", links: [] });
    expect(record(`<title> </title><meta name="description" content="">`)).toMatchObject({
      title: null,
      description: null,
    });
  });

  it("uses the first title outside of SVG", () => {
    expect(record("<svg><title>Icon</title></svg><title>Page</title><title>Second</title>").title).toBe("Page");
    expect(record("<title></title><title>Later</title>").title).toBe("Later");
    expect(record("<svg><g><title>Only a drawing").title).toBeNull();
  });

  it("falls back to og:description", () => {
    expect(record(`<meta content="Shared" property="og:description"><p>x`).description).toBe("Shared");
  });

  it("resolves links against the first valid <base>, wherever it is on the page", () => {
    const html = `<a href="a">A</a><base target="_top"><base href="/deep/er/"><base href="/no/"><a href="../b">B</a>`;
    expect(record(html).links).toEqual(["https://bakery.example/deep/er/a", "https://bakery.example/deep/b"]);
    expect(record(`<base href="javascript:alert(1)"><a href="a">`).links).toEqual(["https://bakery.example/a"]);
    expect(record(`<base href="http://["><a href="a">`).links).toEqual(["https://bakery.example/a"]);
  });

  it("resolves links against the URL after redirects", () => {
    const page = aPage({ url: "https://bakery.example/shop/list" });
    expect(extract(`<a href="rye">`, page).links).toEqual(["https://bakery.example/shop/rye"]);
  });

  it("uses the first of two href attributes, and ignores the case of attribute names", () => {
    expect(record(`<A HREF='/one' href=/two>x</A>`).links).toEqual(["https://bakery.example/one"]);
  });

  it("is cut to 5,000 characters of text, never inside a character", () => {
    expect(record(`<p>${"word ".repeat(4_000)}</p>`).text).toHaveLength(TEXT_CHARS - 1); // the 5,000th is a space
    const emoji = record(`<p>x${"🍞".repeat(4_000)}</p>`).text as string;
    expect(emoji).toHaveLength(TEXT_CHARS - 1);
    expect(emoji).not.toMatch(/[\ud800-\udbff]$/);
  });

  it("finds title, metadata and links after the text is full", () => {
    const html = `<p>${"x".repeat(20_000)}</p><title>Late</title><meta name=description content=too><a href=/late>`;
    expect(record(html)).toMatchObject({ title: "Late", description: "too", links: ["https://bakery.example/late"] });
  });

  it("collapses very long white space", () => {
    expect(record(`<p>a</p>${" \n".repeat(50_000)}<p>b</p>`).text).toBe("a b");
  });
});

describe("the record of a page that is not HTML", () => {
  it.each([
    ["text/plain; charset=utf-8", "<title>Not parsed</title> & so on"],
    ["text/csv", "a,b\n1,2\n"],
    ["application/json", '{ "a": [1, 2] }'],
    ["application/ld+json", '{"@type":"Thing"}'],
    ["application/rss+xml", "<rss><title>Feed</title></rss>"],
  ])("contains the body unchanged for %s", (contentType, html) => {
    expect(record(html, aPage({ contentType }))).toEqual({ title: null, description: null, text: html, links: [] });
  });

  it("is cut to 5,000 characters", () => {
    expect(record("y".repeat(9_000), aPage({ contentType: "text/plain" })).text).toHaveLength(TEXT_CHARS);
  });

  it.each(["image/png", "application/pdf", "application/octet-stream", "image/svg+xml"])(
    "is empty for %s",
    (contentType) => {
      const html = `<a href="/x">`;
      expect(extract(html, aPage({ contentType }))).toEqual({
        records: [{ title: null, description: null, text: "", links: [] }],
        invalid: [],
        links: [],
      });
    },
  );

  it("depends on the body if the content type is missing", () => {
    const untyped = aPage({ contentType: undefined });
    expect(record("\ufeff\n<!DOCTYPE html><title>Yes</title>", untyped).title).toBe("Yes");
    expect(record(`<?xml version="1.0"?><html xmlns="…"><title>X</title></html>`, untyped).title).toBe("X");
    expect(record("just words <b>", untyped)).toMatchObject({ title: null, text: "just words <b>" });
    expect(record("\x89PNG\0\0\x01", untyped).text).toBe("");
  });

  it("reads XHTML with its self-closing tags", () => {
    const page = aPage({ contentType: "application/xhtml+xml" });
    expect(
      record(`<html><head><script src="x.js"/><title>T</title></head><body>Seen</body></html>`, page),
    ).toMatchObject({
      title: "T",
      text: "Seen",
    });
  });
});

describe("the record of any input", () => {
  const markup = fc.string({
    unit: fc.constantFrom(
      ..."<>/!-=\"' \n&;#ax\0\ufffd",
      ...[
        "<a href=",
        "<title>",
        "</title>",
        "<svg>",
        "</svg>",
        "<svg/>",
        "<script>",
        "</script>",
        "<base href=",
        "<meta ",
      ],
      ...[
        "name=description",
        "content=",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<div>",
        "</div>",
        "</p>",
        "&amp;",
        "http://[",
      ],
    ),
    maxLength: 80,
  });

  it("is one record with absolute links", () => {
    fc.assert(
      fc.property(fc.oneof(markup, fc.string({ unit: "binary" })), (html) => {
        const { records, links } = extract(html);
        expect(records).toHaveLength(1);
        expect(links.every((link) => /^https?:\/\/[^#]+$/.test(link))).toBe(true);
        expect(new Set(links).size).toBe(links.length);
        expect(String(records[0]?.text).length).toBeLessThanOrEqual(TEXT_CHARS);
      }),
    );
  });

  it("is read from a hundred thousand nested elements", () => {
    const deep = "<div>".repeat(100_000);
    expect(record(`${deep}<a href="/deep">bottom</a>${"</div>".repeat(100_000)}<p>after</p>`)).toMatchObject({
      text: "bottom after",
      links: ["https://bakery.example/deep"],
    });
    expect(record(`${"<b>".repeat(100_000)}x${"</i>".repeat(100_000)}`).text).toBe("x");
  });
});

function extract(html: string, page = aPage()) {
  return createDefaultExtractor({ followLinks: true })({ page, html });
}

function record(html: string, page = aPage()) {
  return extract(html, page).records[0] ?? {};
}

function aPage(parts: Partial<Page> = {}): Page {
  const url = "https://bakery.example/";
  const timing = { status: 200, headers: {}, bodyBytes: 0, fetchedAt: 0, tookMs: 0, redirects: [] };
  return { url, contentType: "text/html", ...timing, ...parts };
}
