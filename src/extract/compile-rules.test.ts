import { describe, expect, it } from "vitest";
import { aPage } from "../../test/extract/a-page.ts";
import type { Rules } from "../domain/extraction-rules.ts";
import { isTrawlError } from "../errors.ts";
import { compileRules } from "./compile-rules.ts";
import { rulesSchema } from "./rules.ts";

const BOOK = `<!doctype html><html><head><title>Salt — Old Harbour Books</title><base href="/shop/">
  <link rel="canonical" href="salt"><meta name="author" content="R. Hale">
  <meta property="og:image" content="1.jpg"><meta property="og:image" content="2.jpg"></head>
<body><h1> Salt <small>and   water</small></h1>
  <p class="price">£1,051.77</p><p class="was">soon</p><p class="stock">In stock</p><p class="pages">1.312</p>
  <a class="tag" href="t/sea">Sea</a><a class="tag" href="t/history">History</a>
  <img data-id="7" src="img/salt.png" alt=""><time datetime="2024-03-05T10:00:00Z">last week</time>
  <div class="blurb">A <b>fine</b> &amp; long read<script>track()</script></div>
  <script id="state">window.state = {"sku": "SB-42", "copies": 3};</script>
  <ul><li class="offer"><span class="shop">North</span> <span class="cost">9,50 €</span></li>
      <li class="offer"><span class="shop">South</span></li></ul>
  <dl><dt>Weight</dt><dd>300 g</dd><dt>Binding</dt><dd>cloth</dd></dl></body></html>`;

describe("fields read by rules", () => {
  it("contain the text of the first match, with white space collapsed", () => {
    expect(record({ title: "h1", tag: "a.tag" })).toEqual({ title: "Salt and water", tag: "Sea" });
  });

  it("are null if nothing matches, and [] for a list", () => {
    expect(record({ a: ".none", b: "img@title", c: [".none"], d: "img@alt" })).toEqual({
      a: null,
      b: null,
      c: [],
      d: null,
    });
  });

  it("may be attributes and lists", () => {
    expect(record({ src: "img@src", id: "IMG@DATA-ID", tags: ["a.tag"], hrefs: ["a.tag@href"] })).toEqual({
      src: "img/salt.png",
      id: "7",
      tags: ["Sea", "History"],
      hrefs: ["t/sea", "t/history"],
    });
  });

  it("do not confuse inherited object properties with attributes", () => {
    expect(record({ a: "img@constructor", b: "img@__proto__" })).toEqual({ a: null, b: null });
  });

  it("are converted to every type", () => {
    expect(
      record({
        number: { select: ".price", type: "number" },
        noNumber: { select: ".was", type: "number" },
        integer: { select: ".pages", type: "integer" },
        boolean: { select: ".stock", type: "boolean" },
        noBoolean: { select: ".sold-out", type: "boolean" },
        url: { select: "a.tag", type: "url" },
        image: { select: "img@src", type: "url" },
        date: { select: "time", type: "date" },
        html: { select: ".blurb", type: "html" },
        text: { select: ".blurb", type: "text" },
        multiline: { select: "dl", type: "multiline" },
        json: { select: "#state", type: "json", match: "state = (.*);" },
        noJson: { select: "h1", type: "json" },
      }),
    ).toEqual({
      number: 1051.77,
      noNumber: null,
      integer: 1312,
      boolean: true,
      noBoolean: false,
      url: "https://books.example/shop/t/sea",
      image: "https://books.example/shop/img/salt.png",
      date: "2024-03-05T10:00:00.000Z",
      html: "A <b>fine</b> &amp; long read<script>track()</script>",
      text: "A fine & long read",
      multiline: "Weight\n300 g\nBinding\ncloth",
      json: { sku: "SB-42", copies: 3 },
      noJson: null,
    });
  });

  it.each([
    ["no", false],
    ["FALSE", false],
    ["0", false],
    ["yes", true],
    ["true", true],
    ["1", true],
    ["", true],
    ["anything", true],
  ])("of type boolean: an element with the text %j is %s", (text, value) => {
    expect(record({ is: { select: "b", type: "boolean" } }, `<b>${text}</b>`)).toEqual({ is: value });
  });

  it("contain the first group of a pattern, or the whole match", () => {
    expect(
      record({
        group: { select: "h1", match: "Salt and (\\w+)" },
        whole: { select: "h1", match: "w\\w+" },
        number: { select: ".price", match: "\\d{2}$", type: "number" },
        none: { select: "h1", match: "sugar" },
      }),
    ).toEqual({ group: "water", whole: "water", number: 77, none: null });
  });

  it("apply a pattern to the first 100,000 characters only", () => {
    const html = `<p>${"x".repeat(100_000)}y</p>`;
    expect(record({ a: { select: "p", match: "y" }, b: { select: "p", match: "x$" } }, html)).toEqual({
      a: null,
      b: "x",
    });
  });

  it("have their default if there is no value", () => {
    expect(
      record({
        a: { select: ".none", default: "n/a" },
        b: { select: ".was", type: "number", default: 0 },
        c: { select: ".none", list: true, default: ["x"] },
        d: { select: ".none", type: "boolean", default: true },
        e: { select: "h1", default: "n/a" },
      }),
    ).toEqual({ a: "n/a", b: 0, c: ["x"], d: true, e: "Salt and water" });
  });

  it("may be objects and lists of objects", () => {
    const fields: Rules = { shop: ".shop", cost: { select: ".cost", type: "number" } };
    expect(record({ best: { select: ".offer", fields }, all: [{ select: ".offer", fields }] })).toEqual({
      best: { shop: "North", cost: 9.5 },
      all: [
        { shop: "North", cost: 9.5 },
        { shop: "South", cost: null },
      ],
    });
    expect(record({ one: { select: ".none", fields }, many: { select: ".none", list: true, fields } })).toEqual({
      one: null,
      many: [],
    });
  });

  it("of objects: inner selectors may begin with a combinator, select the element itself, or match through its ancestors", () => {
    const facts: Rules = {
      facts: [{ select: "dt", fields: { name: ":scope", value: "+ dd", later: ["~ dd"] } }],
      links: [{ select: "a.tag", fields: { to: "@href", up: "body a" } }],
      items: { select: "ul", fields: { direct: ["> .offer > .shop"], ancestor: "body .offer .cost" } },
    };
    expect(record(facts)).toEqual({
      facts: [
        { name: "Weight", value: "300 g", later: ["300 g", "cloth"] },
        { name: "Binding", value: "cloth", later: ["cloth"] },
      ],
      links: [
        { to: "t/sea", up: null },
        { to: "t/history", up: null },
      ],
      items: { direct: ["North", "South"], ancestor: "9,50 €" },
    });
  });

  it("may be read from the metadata of the page", () => {
    expect(
      record({
        url: "url",
        title: "title",
        canonical: "canonical",
        author: "meta:Author",
        image: "og:image",
        images: ["og:image"],
        card: "twitter:card",
      }),
    ).toEqual({
      url: "https://books.example/salt.html",
      title: "Salt — Old Harbour Books",
      canonical: "https://books.example/shop/salt",
      author: "R. Hale",
      image: "1.jpg",
      images: ["1.jpg", "2.jpg"],
      card: null,
    });
  });

  it("are the same with and without a tree", () => {
    const rules: Rules = {
      url: "url",
      title: "title",
      canonical: "canonical",
      author: "meta:author",
      images: ["og:image"],
    };
    const { h1: _, ...withTree } = record({ ...rules, h1: "h1" });
    expect(record(rules)).toEqual(withTree);
    expect(extract(rules, BOOK, "a[href]").links).toEqual(extract({ ...rules, h1: "h1" }, BOOK, "a[href]").links);
    expect(extract(rules, BOOK, "a[href]").links).toEqual([
      "https://books.example/shop/t/sea",
      "https://books.example/shop/t/history",
    ]);
  });

  it("are read from XML, and not from other kinds of pages", () => {
    const feed = `<?xml version="1.0"?><rss><channel><title>Feed</title>
      <Item><title>One</title><link>https://a.example/1</link></Item><item><title><![CDATA[A & B]]></title></item></channel></rss>`;
    const rules: Rules = { $each: "item", feed: "title", name: ":scope > title", link: "link" };
    expect(compileRules(rules, NO_LINKS)({ page: aPage("application/rss+xml"), html: feed }).records).toEqual([
      { feed: "Feed", name: "One", link: "https://a.example/1" },
      { feed: "Feed", name: "A & B", link: null },
    ]);
    const pdf = compileRules({ title: { select: "h1", required: true } }, { ...NO_LINKS, links: "a" });
    expect(pdf({ page: aPage("application/pdf"), html: BOOK })).toEqual({ records: [], invalid: [], links: [] });
  });
});

describe("required fields", () => {
  it("make a record invalid if they are missing, with the field, the selector and the text found", () => {
    const rules: Rules = {
      title: "h1",
      isbn: { select: ".isbn", required: true },
      was: { select: ".was", type: "number", required: true },
      alt: { select: "img@alt", required: true },
      tags: { select: ".none", list: true, required: true },
    };
    expect(extract(rules, BOOK)).toEqual({
      records: [],
      invalid: [
        {
          fields: { title: "Salt and water", isbn: null, was: null, alt: null, tags: [] },
          reason:
            'field "isbn" is required, but ".isbn" matches nothing; ' +
            'field "was" is required, but ".was" gives no number from "soon"; ' +
            'field "alt" is required, but "img@alt" is empty; ' +
            'field "tags" is required, but ".none" matches nothing',
        },
      ],
      links: [],
    });
  });

  it("are reported with their path inside objects, and are not required in an object that does not exist", () => {
    const fields: Rules = { cost: { select: ".cost", required: true } };
    expect(extract({ offers: [{ select: ".offer", fields }] }, BOOK).invalid[0]?.reason).toBe(
      'field "offers[1].cost" is required, but ".cost" matches nothing',
    );
    expect(extract({ offer: { select: ".none", fields } }, BOOK).records).toEqual([{ offer: null }]);
    expect(extract({ offer: { select: ".none", fields, required: true } }, BOOK).invalid[0]?.reason).toBe(
      'field "offer" is required, but ".none" matches nothing',
    );
  });

  it("are not missing if they are zero or false", () => {
    const rules: Rules = {
      zero: { select: "b", type: "number", required: true },
      no: { select: "i", type: "boolean", required: true },
    };
    expect(record(rules, "<b>0</b><i>no</i>")).toEqual({ zero: 0, no: false });
    expect(extract(rules, "<b>0</b>").invalid).toHaveLength(1);
  });
});

describe("several records per page", () => {
  const rules: Rules = {
    $each: ".offer",
    shop: ".shop",
    cost: { select: ".cost", type: "number", required: true },
    page: "title",
  };

  it("are read one per element, and validated one by one", () => {
    const { records, invalid } = extract(rules, BOOK);
    expect(records).toEqual([{ shop: "North", cost: 9.5, page: "Salt — Old Harbour Books" }]);
    expect(invalid.map(({ fields }) => fields.shop)).toEqual(["South"]);
  });

  it("are none if no element matches", () => {
    expect(extract(rules, "<p>nothing here")).toEqual({ records: [], invalid: [], links: [] });
  });
});

describe("links", () => {
  const html = `<nav class="pages"><a href="?p=2">2</a><a href="?p=3#x">3</a><a>none</a></nav>
    <link rel="next" href="/next"><iframe src="/frame"></iframe><a href="mailto:a@b">m</a><a href="?p=2">again</a>`;

  it.each([
    // The default selector also finds the next page that a <link> names.
    ["a[href]", ["salt.html?p=2", "salt.html?p=3", "next"]],
    ["link[rel=next]", ["next"]],
    ["iframe", ["frame"]],
    [".pages", ["salt.html?p=2", "salt.html?p=3"]],
    [".pages a:last-of-type", []],
    ["iframe, link", ["next", "frame"]],
    [undefined, []],
  ])("selected by %j are %j", (links, paths) => {
    expect(extract({ title: "h1" }, html, links).links).toEqual(paths.map((path) => `https://books.example/${path}`));
  });

  it("are found on pages without records", () => {
    expect(extract({ $each: ".none", title: "h1" }, html, "link").links).toEqual(["https://books.example/next"]);
  });
});

describe("invalid selectors", () => {
  it.each<[Rules, string | undefined, RegExp]>([
    [{ price: ".price[" }, undefined, /field "price": "\.price\[" is not a CSS selector: .+; correct it/],
    [{ price: "p:nosuch" }, undefined, /field "price": "p:nosuch" .*nosuch/],
    [{ a: { select: "ul", fields: { b: ["li::before"] } } }, undefined, /field "a\.b": "li::before"/],
    [{ $each: "[", a: "b" }, undefined, /"\$each": "\["/],
    [{ a: "b" }, "a >", /follow\.links: "a >"/],
    [{ a: "jsonld:" }, undefined, /field "a": "jsonld:" needs a type/],
    [{ a: "microdata:Product..name" }, undefined, /field "a": .* needs a type and a path/],
    [{ a: { select: "jsonld:Product", fields: { b: "c" } } }, undefined, /field "a": "jsonld:Product" has "fields"/],
    [{ a: { select: ".x@href", fields: { b: "c" } } }, undefined, /field "a": "\.x@href"/],
  ])("in %j (links %s) are reported", (rules, links, message) => {
    expect(() => compileRules(rules, { links, parser: "fast" })).toThrow(message);
    try {
      compileRules(rules, { links, parser: "fast" });
    } catch (error) {
      expect(isTrawlError(error, "BAD_SELECTOR")).toBe(true);
    }
  });
});

const NO_LINKS = { links: undefined, parser: "fast" } as const;

function extract(rules: Rules, html: string, links?: string) {
  return compileRules(rulesSchema.parse(rules), { links, parser: "fast" })({ page: aPage(), html });
}

function record(rules: Rules, html = BOOK) {
  return extract(rules, html).records[0] ?? {};
}
