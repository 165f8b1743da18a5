import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { baseUrlOf, firstMeta, readMetadata } from "./metadata.ts";
import { parseDocument } from "./parse-html.ts";
import { scanPage } from "./scan-page.ts";

const HTML = `<head><title>One</title><base href="/b/"><link rel="icon" href="i"><link rel="prev Canonical" href="c">
  <meta name="Keywords" content=" a,  b "><meta property="og:title" content="T"><meta property="og:title" content="U">
  <meta name="both" property="og:both" content="x"><meta name="same" property="same" content="y">
  <meta name="empty" content=" "><meta name="none"><meta content="nameless"></head>`;

/** The page ends inside a tag whose name and content are already complete. */
const CUT = ["<a href=x>", "<meta content=3 ", "name=b", "<meta content=3 "];

describe("metadata", () => {
  it("contains the title, the meta tags, the canonical link and the base", () => {
    const metadata = readMetadata(parseDocument(HTML, "html"));

    expect(Object.fromEntries(metadata.metas)).toEqual({
      keywords: ["a, b"],
      "og:title": ["T", "U"],
      both: ["x"],
      "og:both": ["x"],
      same: ["y"],
    });
    expect(metadata).toMatchObject({ title: "One", canonicalHref: "c", baseHref: "/b/" });
    expect(firstMeta(metadata, "no", "og:title")).toBe("T");
    expect(firstMeta(metadata, "no")).toBeNull();
  });

  it("is the same from a tree and from a scan, for any page", () => {
    const pieces = fc.constantFrom(
      ...[
        "<title>",
        "</title>",
        "<svg>",
        "</svg>",
        "<svg/>",
        "text",
        "<p>",
        "</p>",
        "<base href=/a>",
        "<base>",
        "<a href=x>",
      ],
      ...[
        "<meta name=a content=1>",
        "<meta property=A content=2>",
        "<meta content=3 ",
        "name=b",
        "/>",
        ">",
        "<link rel=canonical href=/c>",
      ],
      ...["<link rel=canonical>", "<script>", "</script>", "<desc>", "<div>", "</div>", "<!--", "-->"],
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 40 }),
        fc.constantFrom("html" as const, "xhtml" as const),
        (parts, kind) => {
          const html = parts.join("");
          const { title, metas, canonicalHref, baseHref } = readMetadata(parseDocument(html, kind));
          expect(scanPage(html, { kind, textChars: 10 }).metadata).toMatchObject({
            title,
            metas,
            canonicalHref,
            baseHref,
          });
        },
      ),
      {
        numRuns: 500,
        examples: [
          [CUT, "html"],
          [CUT, "xhtml"],
        ],
      },
    );
  });

  it.each([
    [undefined, "https://a.example/x/y"],
    ["/b/", "https://a.example/b/"],
    ["//c.example/", "https://c.example/"],
    ["data:text/plain,x", "https://a.example/x/y"],
    ["http://[", "https://a.example/x/y"],
  ])("resolves <base href=%j> to %s", (baseHref, base) => {
    expect(baseUrlOf({ baseHref }, "https://a.example/x/y")).toBe(base);
  });
});
