import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementsIn } from "./elements.ts";
import { readMetadata } from "./metadata.ts";
import { isNofollow } from "./page-directives.ts";
import { DEEPEST_NESTING, parseDocument } from "./parse-html.ts";
import { scanPage } from "./scan-page.ts";
import { cutText, textOf } from "./visible-text.ts";

type Kind = "html" | "xhtml";

const TAGS = fc.constantFrom(
  ..."a p div b li td tr table svg g title script style textarea xmp noscript br hr meta link base h1 option".split(
    " ",
  ),
  ..."A Script foreignObject math mi my-card selecT body head dd dt iframe datalist p/".split(" "),
);
const SPACE = fc.constantFrom(" ", "\n", "\t", "  ", " / ", "");
const NAMES = fc.constantFrom(
  "href",
  "HREF",
  "name",
  "content",
  "property",
  "rel",
  "class",
  "=",
  '"',
  "data-x",
  "hreflang",
  "http-equiv",
  "HTTP-Equiv",
);
const VALUES = fc.constantFrom(
  "/x",
  "a&amp;b",
  "&lt",
  "&ltcc;",
  "a=b&copy=1",
  "canonical",
  "Next",
  "nofollow x",
  "refresh",
  "og:title",
  "a>b",
  "",
  "é",
  "<p>",
  "&#65;",
);
const ATTRIBUTE = fc
  .tuple(SPACE, NAMES, fc.constantFrom("=", " = ", ""), fc.constantFrom('"', "'", ""), VALUES)
  .map(([space, name, equals, quote, value]) =>
    equals === "" ? `${space || " "}${name}` : `${space || " "}${name}${equals}${quote}${value}${quote}`,
  );
const PIECES = fc.oneof(
  fc
    .tuple(TAGS, fc.array(ATTRIBUTE, { maxLength: 3 }), SPACE, fc.constantFrom(">", ">", ">", "/>", " / >", ""))
    .map(([tag, attributes, space, end]) => `<${tag}${attributes.join("")}${space}${end}`),
  fc.tuple(TAGS, SPACE, fc.constantFrom(">", ">", " x>", "")).map(([tag, space, end]) => `</${tag}${space}${end}`),
  fc.constantFrom(
    ...[
      "text",
      " ",
      "\n",
      "&amp;",
      "&am",
      "&nbsp;x",
      "&notin;",
      "&#x41",
      "&",
      ";",
      "\0",
      "é",
      "🍞",
      "<",
      ">",
      "</",
      "</>",
    ],
    ...[
      "<!--",
      "-->",
      "<!-->",
      "<!--->",
      "--",
      "<!>",
      "<!->",
      "<!doctype html>",
      "<?xml ?>",
      "<?",
      "</3>",
      "<3",
      "<![CDATA[",
    ],
    ...["]]>", "]]", "<![x]>", "'", '"', "</ p>", "</script", "</TITLE >"],
  ),
);

describe("the scan of a page", () => {
  it.each(["html", "xhtml"] as const)("finds the same as a tree of the page (%s)", (kind) => {
    fc.assert(
      fc.property(fc.array(PIECES, { maxLength: 30 }), fc.constantFrom(5, 1_000), (parts, textChars) => {
        expectSame(finished(parts.join("")), kind, textChars);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(["html", "xhtml"] as const)("finds the same as a tree, in a page of any characters (%s)", (kind) => {
    const chars = fc.string({ unit: fc.constantFrom(..."<>/!-?a p&;='\"[]tile\n".split("")), maxLength: 60 });
    fc.assert(
      fc.property(chars, (markup) => expectSame(finished(markup), kind, 1_000)),
      { numRuns: 1_000 },
    );
  });

  it("finds the same as a tree, in a page that nests too deep", () => {
    const deep = "<div>".repeat(DEEPEST_NESTING - 2);
    const closing = "</div>".repeat(DEEPEST_NESTING - 2);
    const inner =
      "<b>one<i>two<noscript>x</noscript></i><br><u/></b><script>x < 1</script><title>t</title><svg><a href=q>";
    expectSame(`<main>${deep}${inner}${closing}</main><p>after<a href=/y>z`, "html", 1_000);
  });

  it("takes linear time, however the page is built", () => {
    const count = 300_000; // quadratic time would be minutes
    const scan = (markup: string) => scanPage(markup, { kind: "html", textChars: 100 });
    expect(scan("<div>".repeat(count)).text).toBe("");
    expect(scan(`${"<b>".repeat(count)}${"</i>".repeat(count)}x`).text).toBe("x");
    expect(scan("<p><svg></p>".repeat(count)).text).toBe("");
    expect(scan("<a ".repeat(count)).hrefs).toEqual([]);
    expect(scan("<a href='".repeat(count)).hrefs).toEqual([]);
    expect(scan("<!--".repeat(count)).text).toBe("");
    expect(scan(`<script>${"</scrip".repeat(count)}`).text).toBe("");
    expect(scan("</".repeat(count)).text).toBe("");
  });
});

/**
 * Avoids two cases in which htmlparser2 differs. It shows a part of some tags that the page cuts off, so an open tag is
 * ended here. And in a title it does not decode an entity that directly follows the start of a closing tag.
 */
function finished(markup: string): string {
  return `${markup.replaceAll(/(<\/?[a-z]*)&/gi, "$1 &")}>>x`;
}

function expectSame(markup: string, kind: Kind, textChars: number): void {
  const dom = parseDocument(markup, kind);
  const { metadata, hrefs, followed, text } = scanPage(markup, { kind, textChars });
  const anchors = [...elementsIn(dom)].filter(({ name }) => name === "a");
  const links = anchors.flatMap(({ attribs }) => attribs.href ?? []);
  expect({ ...metadata, hrefs, text }).toEqual({
    ...readMetadata(dom),
    ...{ hrefs: links, text: cutText(textOf(dom), textChars).trim() },
  });
  expect(followed).toBe(hrefs);
  const obedient = scanPage(markup, { kind, textChars, obeysNofollow: true });
  expect(obedient).toMatchObject({ metadata, hrefs, text });
  expect(obedient.followed).toEqual(
    anchors.filter(({ attribs }) => !isNofollow(attribs.rel)).flatMap(({ attribs }) => attribs.href ?? []),
  );
}
