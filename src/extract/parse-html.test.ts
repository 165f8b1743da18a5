import { type AnyNode, type Document, hasChildren } from "domhandler";
import { getOuterHTML } from "domutils";
import fc from "fast-check";
import { parseDocument as parseUnbounded } from "htmlparser2";
import { describe, expect, it } from "vitest";
import { elementsIn } from "./elements.ts";
import { DEEPEST_NESTING, parseDocument } from "./parse-html.ts";
import { textOf } from "./visible-text.ts";

const tags = fc.constantFrom("div", "p", "b", "li", "svg", "g", "br", "title", "table", "tr", "td");
const pieces = fc.oneof(
  tags.map((tag) => `<${tag}>`),
  tags.map((tag) => `</${tag}>`),
  tags.map((tag) => `<${tag}/>`),
  fc.constantFrom("text", " ", "<!-- c -->", "<a href=x>", "</a>", "&lt;"),
);

describe("parsing a page into a tree", () => {
  it("yields the same tree as htmlparser2 for pages of normal depth", () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const html = parts.join("");
        expect(getOuterHTML(parseDocument(html, "html"))).toBe(getOuterHTML(parseUnbounded(html)));
      }),
    );
  });

  it("makes elements that are too deep siblings, and still closes their ancestors correctly", () => {
    const deep = "<div>".repeat(DEEPEST_NESTING - 2);
    const html = `<main>${deep}<b>one<i>two</i><br><u/></b><script>x < 1</script>${"</div>".repeat(DEEPEST_NESTING - 2)}</main><p>after`;
    const dom = parseDocument(html, "html");

    const names = [...elementsIn(dom)].map(({ name }) => name).filter((name) => name !== "div");
    expect(names).toEqual(["main", "b", "i", "br", "u", "script", "p"]);
    expect(depthOf(dom)).toBeLessThanOrEqual(DEEPEST_NESTING + 2);
    expect(dom.children).toHaveLength(2);
    expect(textOf(dom)).toBe("onetwo after");
  });

  it("takes linear time, however deep the page nests", () => {
    const count = 300_000; // quadratic time would be minutes
    expect(depthOf(parseDocument("<div>".repeat(count), "html"))).toBeLessThanOrEqual(DEEPEST_NESTING + 1);
    expect(parseDocument(`${"<b>".repeat(count)}${"</i>".repeat(count)}`, "html").children).toHaveLength(1);
    expect(parseDocument("<p><svg></p>".repeat(count), "html").children).toHaveLength(count);
    expect(parseDocument(`${"<g><g/>".repeat(count)}`, "xml").children).toHaveLength(1);
  });

  it("reads XML with lower-case names, CDATA and self-closing tags", () => {
    const dom = parseDocument("<rss><Item><Link/><title><![CDATA[A & B]]></title></Item></rss>", "xml");
    expect([...elementsIn(dom)].map(({ name }) => name)).toEqual(["rss", "item", "link", "title"]);
  });
});

function depthOf(dom: Document): number {
  let deepest = 0;
  let level: AnyNode[] = [dom];
  while (level.length > 0) {
    level = level.flatMap((node) => (hasChildren(node) ? node.children : []));
    deepest++;
  }
  return deepest;
}
