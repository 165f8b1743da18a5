import { describe, expect, it } from "vitest";
import { isTrawlError } from "../errors.ts";
import { compileCss } from "./css-selector.ts";
import { parseDocument } from "./parse-html.ts";

const dom = parseDocument(
  `<main ID="m"><ul><li class="a">1</li><li>2<b title="x > y @z">b</b></li></ul><A HREF="q?a=1&b=2">c</A><p>no!</p></main>`,
  "html",
);

describe("a compiled selector", () => {
  it.each([
    ["li", 2],
    ["LI.a", 1],
    ["li, a", 3],
    ["main > ul > li + li", 1],
    ["[HREF]", 1],
    ["main > [href*='a=1&b']", 1],
    ['[title="x > y @z"]', 1],
    ["p:contains(no!)", 1],
    ["main > :contains(no!)", 1],
    ["li:nth-child(2n + 1)", 1],
    ["ul:has(> li > b)", 1],
    ["li:not(.a)", 1],
    [":scope > ul", 1],
    ["> ul", 1],
    [".not-there", 0],
    ["li:not(:scope > li)", 2],
    ["#m\\:x", 0],
  ])("%s finds %i", (selector, count) => {
    const css = compileCss(selector, "test");
    expect(css.all(dom, undefined)).toHaveLength(count);
    expect(css.first(dom, undefined)).toBe(css.all(dom, undefined)[0]);
  });

  it("can be used for one element after another", () => {
    const [first, second] = compileCss("li", "test").all(dom, undefined);
    const bold = compileCss(":scope > b", "test");

    expect(bold.first(dom, first)).toBeUndefined();
    expect(bold.first(dom, second)?.name).toBe("b");
    expect(bold.first(dom, first)).toBeUndefined();
    expect(compileCss(":scope", "test").all(dom, second)).toEqual([second]);
    expect(compileCss("+ li", "test").first(dom, first)).toBe(second);
    expect(compileCss("+ li", "test").first(dom, second)).toBeUndefined();
    expect(compileCss("+ li", "test").first(dom, undefined)).toBeUndefined();
  });

  it("finds nothing in an empty page", () => {
    const empty = parseDocument("", "html");
    expect(compileCss(":scope", "test").all(empty, undefined)).toEqual([]);
    expect(compileCss("> a", "test").first(empty, undefined)).toBeUndefined();
  });

  it.each([
    "",
    " ",
    "a >",
    "a > > b",
    "a,",
    ",a",
    ".a@href",
    "p!",
    "a[",
    "a]",
    "a:nosuch",
    "li::before",
    "svg|a",
    "{}",
    ".",
    "a && b",
  ])("is refused if it is %j", (selector) => {
    try {
      compileCss(selector, 'field "x"');
      expect.unreachable();
    } catch (error) {
      expect(isTrawlError(error, "BAD_SELECTOR") && error.message).toContain('field "x"');
    }
  });

  it.each([
    ["h1[", '"[" is not closed'],
    ["h1[a=", '"[" is not closed'],
    ["a]", '"]" has no "["'],
    ["a:not(b", '"(" is not closed'],
    ["a)", '")" has no "("'],
    ["h1[]", 'a name is missing at "]"'],
    ["p:", 'a name is missing at ":"'],
    ["a,", "one of its parts is empty"],
    ["a > > b", "it has two combinators in a row"],
  ])("is refused with a readable reason: %s", (selector, reason) => {
    const message = `field "x": ${JSON.stringify(selector)} is not a CSS selector: ${reason}; correct it`;
    expect(() => compileCss(selector, 'field "x"')).toThrow(message);
  });
});
