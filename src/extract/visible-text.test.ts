import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDocument } from "./parse-html.ts";
import { scanPage } from "./scan-page.ts";
import { collapse, cutText, linesOf, textOf } from "./visible-text.ts";

describe("visible text", () => {
  it("separates blocks, joins inline elements, and leaves out hidden elements", () => {
    const html = "<div>a<p>b</p>c<b>d</b>e<br>f</div><script>g</script><svg><text>h</text></svg>i<!-- j -->";
    expect(textOf(parseDocument(html, "html"))).toBe("a b cde f i");
  });

  it("linesOf starts a new line at block elements, at <br>, and at line breaks in <pre>", () => {
    const html =
      "<h2>Taste</h2>\n<p>Dark,\n  <b>rich</b><br>and <br><br>long.</p><ul><li>one</li><li> two </li></ul>" +
      "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table><pre>x  y\n\n z</pre><script>no</script>";
    expect(linesOf(parseDocument(html, "html"))).toBe(
      ["Taste", "Dark, rich", "and", "long.", "one", "two", "a b", "c", "x y", "z"].join("\n"),
    );
  });

  it("textOf and scanPage return the same text for any page", () => {
    const pieces = fc.constantFrom(
      ...[
        "<div>",
        "</div>",
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "<br>",
        "<script>",
        "</script>",
        "<svg>",
        "</svg>",
        "<svg/>",
        "<title>",
      ],
      ...[
        "</title>",
        "<noscript>",
        "</noscript>",
        "one",
        " ",
        "two",
        "\n\t",
        "&nbsp;",
        "\0",
        "<li>",
        "<td>",
        "<!--",
        "-->",
      ],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const html = parts.join("");
        expect(scanPage(html, { kind: "html", textChars: 1_000 }).text).toBe(textOf(parseDocument(html, "html")));
      }),
      { numRuns: 500 },
    );
  });

  it("collapse gives the same result as a regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", " ", "\n", "\t", "\u00a0", "\u2009", "\0", "\ufeff") });
    fc.assert(
      fc.property(text, (raw) => {
        expect(collapse(raw)).toBe(raw.replace(/[\s\0]+/g, " ").replace(/^ | $/g, ""));
      }),
    );
  });

  it("is not cut inside a character", () => {
    expect(cutText("abc", 3)).toBe("abc");
    expect(cutText("abcd", 3)).toBe("abc");
    expect(cutText("ab🍞", 3)).toBe("ab");
  });
});
