import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLinkHeader } from "./link-header.ts";

describe("a Link header", () => {
  it.each([
    ["one link", '</2>; rel="next"', [["/2", "next"]]],
    [
      "several links",
      '<https://a.example/?a=1,2;3>; rel=next, </>;rel="index up"',
      [
        ["https://a.example/?a=1,2;3", "next"],
        ["/", "index up"],
      ],
    ],
    ["quotes, escapes and other parameters", '</a>; title="x, <y>; \\"z\\""; REL="Next"; rel=last', [["/a", "next"]]],
    [
      "spaces and empty parts",
      ' , < /a > ; rel = "next" ,, </b> ; crossorigin; rel=preload',
      [
        ["/a", "next"],
        ["/b", "preload"],
      ],
    ],
    ["a link without rel", "</a>", [["/a", ""]]],
    ["a link of another page", '</a>; rel=next; anchor="#part", </b>; rel=next', [["/b", "next"]]],
    ["an error after a link", "</a>; rel=next, /b; rel=next", [["/a", "next"]]],
    ["a target without an end", "</a; rel=next", []],
    ["a string without an end", '</a>; rel="next', [["/a", "next"]]],
    ["nothing", "", []],
  ])("with %s is read", (_, header, expected) => {
    expect(parseLinkHeader(header).map(({ target, rels }) => [target, rels.join(" ")])).toEqual(expected);
  });

  it("returns the links that it was written from", () => {
    const target = fc.webPath().filter((path) => !path.includes(">"));
    const rels = fc.array(fc.constantFrom("next", "prev", "x-own"), { minLength: 1, maxLength: 3 });
    const title = fc.string({ unit: fc.constantFrom(...'a,;<>=\\" ') });
    fc.assert(
      fc.property(fc.array(fc.record({ target, rels, title }), { maxLength: 5 }), (links) => {
        const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
        const header = links.map(
          (one) => `<${one.target}>; title=${quoted(one.title)}; rel=${quoted(one.rels.join(" "))}`,
        );
        expect(parseLinkHeader(header.join(", "))).toEqual(
          links.map((one) => ({ target: one.target, rels: one.rels })),
        );
      }),
    );
  });

  it("takes linear time", () => {
    const count = 100_000;
    for (const header of ["<", "<>;", '<>;a="', ",", " ", "<>;rel=\\", ";", '<>;a="\\'])
      expect(parseLinkHeader(header.repeat(count)).length).toBeLessThanOrEqual(count);
  });
});
