import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aPage } from "../../test/extract/a-page.ts";
import type { Rules } from "../domain/extraction-rules.ts";
import { compileRules } from "./compile-rules.ts";

describe("any page", () => {
  const rules: Rules = {
    text: "div",
    all: ["div, a"],
    html: { select: "div", type: "html" },
    nested: { select: "div", list: true, fields: { inner: ["> div"], has: "div:has(> a)", self: ":scope" } },
    number: { select: "a", type: "number" },
    date: { select: "a", type: "date" },
    json: { select: "script", type: "json" },
    ld: ["jsonld:Product.offers.price"],
    micro: ["microdata:Product.name"],
    title: "title",
    child: "div > div div:not(.x) a",
  };
  const extractor = compileRules(rules, { links: "a, nav", parser: "fast" });
  const markup = fc.array(
    fc.constantFrom(
      ...[
        "<div>",
        "</div>",
        "<a href='",
        "x'>",
        "</a>",
        "<nav>",
        "text",
        "1,5",
        "<svg/>",
        "&amp",
        "\0",
        "<title>",
        "</title>",
      ],
      ...[
        "<div itemscope itemtype='Product'>",
        "<b itemprop='name offers'>",
        "</b>",
        "<!--",
        "-->",
        "'",
        '"',
        "<",
        ">",
      ],
      ...[
        "<script type='application/ld+json'>",
        '{"@type":"Product","offers":',
        "[",
        "]",
        "}",
        '{"price":1}',
        "</script>",
      ],
    ),
    { maxLength: 60 },
  );

  it("yields exactly one record and never throws", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          markup.map((parts) => parts.join("")),
          fc.string({ unit: "binary" }),
        ),
        (html) => {
          const { records } = extractor({ page: aPage(), html });
          expect(records).toHaveLength(1);
          JSON.stringify(records);
        },
      ),
    );
  });

  it("is read in linear time, however deep it nests", () => {
    const flat: Rules = {
      text: "div",
      last: "div div div a@href",
      has: "body:has(a)@id",
      html: { select: "p", type: "html" },
    };
    const html = `<body id="b"><p>top<b>!</b></p>${"<div>".repeat(100_000)}<a href="/x">bottom</a>`;
    const { records, links } = compileRules(flat, { links: "body", parser: "fast" })({ page: aPage(), html });
    expect(records).toEqual([{ text: "bottom", last: "/x", has: "b", html: "top<b>!</b>" }]);
    expect(links).toEqual(["https://books.example/x"]);
  });
});
