import fc from "fast-check";
import { Parser } from "htmlparser2";
import { describe, expect, it } from "vitest";
import { XmlScanner } from "./xml-scanner.ts";

const NAMES = fc.constantFrom("url", "loc", "LOC", "image:loc", "link", "a");
const SPACE = fc.constantFrom("", " ", "\n\t");
const ATTRIBUTE = fc.constantFrom(' rel="next"', " href='/a>b'", ' x = "&amp;\'/"', " y=1", " z", ' u="é"', ' v=""');
const PIECES = fc.oneof(
  fc
    .tuple(NAMES, fc.array(ATTRIBUTE, { maxLength: 2 }), SPACE, fc.constantFrom(">", ">", " />"))
    .map(([name, attributes, space, end]) => `<${name}${attributes.join("")}${space}${end}`),
  fc.tuple(NAMES, SPACE).map(([name, space]) => `</${space}${name}${space}>`),
  fc.constantFrom("text", " ", "&amp;", "&#50;", "&am", "&", ";", "é", "🍞", "]]>", "-->", "]>", "'", '"', "< ", "<>"),
  fc.constantFrom("<!-- a > b -->", "<!---->", "<![CDATA[a <b> &amp; ]] ]]>", "<?xml version='1.0'?>"),
  fc.constantFrom("<!DOCTYPE urlset>", '<!DOCTYPE x [<!ENTITY e "<url>">]>', "<!ELEMENT a>"),
);
const DOCUMENT = fc.array(PIECES, { maxLength: 25 }).map((pieces) => pieces.join(""));

describe("the scan of an XML document", () => {
  it("finds the same elements and texts as htmlparser2, however the document is cut into parts", () => {
    fc.assert(
      fc.property(DOCUMENT, fc.array(fc.nat(12), { minLength: 1, maxLength: 8 }), (document, sizes) => {
        expect(scan(partsOf(document, sizes))).toEqual(parse(document));
      }),
      { numRuns: 3_000 },
    );
  });

  it("finds the same in a document that ends inside of an element, a comment or a CDATA section", () => {
    for (const document of ["<a>text", "<a>x<b", "<a>x<", "<a><![CDATA[x]", "<a>x<!-- y", "<a>x</a", "<a>&amp"]) {
      expect(scan([...document])).toEqual(parse(document));
      expect(scan([document])).toEqual(parse(document));
    }
  });

  it("keeps no text that its caller does not need", () => {
    const texts: string[] = [];
    let isNeeded = false;
    const scanner = new XmlScanner({
      opened: (name) => {
        isNeeded = name === "loc";
      },
      closed: () => {
        isNeeded = false;
      },
      wantsText: () => isNeeded,
      text: (text) => texts.push(text),
    });
    for (const part of ["<url>", "a".repeat(100_000), "<loc>b", "c</loc>d<e>", "f</e>g</url>"]) scanner.write(part);
    scanner.end();
    expect(texts).toEqual(["bc"]);
  });

  it("takes linear time, however the document is built", () => {
    const count = 300_000; // quadratic time would be minutes
    for (const document of [
      `<a ${'b="" '.repeat(count)}>`,
      `<a ${"b=' > ' ".repeat(count)}>`,
      `<a ${'"'.repeat(count)}>`,
      `<a ${" ".repeat(count)}b>`,
      `<a b="${"x".repeat(count)}">`,
      `<a>${"&".repeat(count)}`,
      `<a>${"<!--".repeat(count)}`,
      `<a>${"<![CDATA[".repeat(count)}`,
      `<a>${"</a".repeat(count)}`,
    ]) {
      const parts = Array.from({ length: Math.ceil(document.length / 1_000) }, (_, nth) =>
        document.slice(nth * 1_000, (nth + 1) * 1_000),
      );
      expect(scan(parts).slice(0, 2)).toEqual(["<a", expect.any(String)]);
    }
  });
});

function partsOf(document: string, sizes: readonly number[]): string[] {
  const parts: string[] = [];
  for (let at = 0, nth = 0; at < document.length; nth++) {
    const size = 1 + (sizes[nth % sizes.length] ?? 0);
    parts.push(document.slice(at, at + size));
    at += size;
  }
  return parts;
}

/** The events of a scan as text: `<name`, `>`, and the text between them. */
function scan(parts: readonly string[]): string[] {
  const found = createList();
  const scanner = new XmlScanner({
    opened: (name) => found.add(`<${name}`),
    closed: () => found.add(">"),
    wantsText: () => true,
    text: (text) => found.addText(text),
  });
  for (const part of parts) scanner.write(part);
  scanner.end();
  return found.list();
}

function parse(document: string): string[] {
  const found = createList();
  const parser = new Parser(
    {
      onopentag: (name) => found.add(`<${name}`),
      onclosetag: () => found.add(">"),
      ontext: (text) => found.addText(text),
    },
    { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  parser.end(document);
  return found.list();
}

function createList() {
  const events: string[] = [];
  let text = "";
  function flush() {
    if (text !== "") events.push(text);
    text = "";
  }
  return {
    add(event: string) {
      flush();
      events.push(event);
    },
    addText(more: string) {
      text += more;
    },
    list() {
      flush();
      return events;
    },
  };
}
