import { Parser } from "htmlparser2";
import { describe, expect, it } from "vitest";
import { createPages, LINKS_PER_PAGE } from "./pages.mjs";
import { createTextPages } from "./text-pages.mjs";

const ORIGIN = "http://site.test";
const PAGES = 700;

function linksOf(site, index) {
  const links = [];
  const parser = new Parser({
    onopentag(name, { href }) {
      if (name === "a") links.push(new URL(href, ORIGIN + site.pathOf(index)));
    },
  });
  parser.end(site.render(index));
  return links.filter((url) => url.origin === ORIGIN && url.hash !== "#content");
}

const KINDS = [
  { kind: "mixed", create: createPages, bytes: [16_000, 19_000] },
  { kind: "text", create: createTextPages, bytes: [17_000, 19_500] },
];

describe.each(KINDS)("a site of the benchmark with $kind pages", ({ create, bytes: [least, most] }) => {
  it("reaches every page from / and links to nothing else", () => {
    const site = create({ pages: PAGES, seed: 7 });
    const indexOf = new Map(Array.from({ length: PAGES }, (_, index) => [site.pathOf(index), index]));
    const reached = new Set([0]);

    for (const index of reached) for (const { pathname } of linksOf(site, index)) reached.add(indexOf.get(pathname));

    expect(reached).toEqual(new Set(indexOf.values()));
  });

  it("has 40 links and about the same size on every page", () => {
    const site = create({ pages: PAGES, seed: 7 });
    for (let index = 0; index < PAGES; index += 1) {
      const bodyBytes = Buffer.byteLength(site.render(index));
      expect(linksOf(site, index)).toHaveLength(LINKS_PER_PAGE);
      expect(bodyBytes).toBeGreaterThan(least);
      expect(bodyBytes).toBeLessThan(most);
    }
  });

  it("is the same for the same seed, and differs for another seed", () => {
    const render = (seed) => create({ pages: PAGES, seed }).render(123);

    expect(render(7)).toBe(render(7));
    expect(render(8)).not.toBe(render(7));
  });

  it.each([1, 2, 5])("has no link to a missing page with only %i pages", (pages) => {
    const site = create({ pages, seed: 7 });
    const paths = new Set(Array.from({ length: pages }, (_, index) => site.pathOf(index)));
    for (let index = 0; index < pages; index += 1) {
      expect(linksOf(site, index).filter(({ pathname }) => !paths.has(pathname))).toEqual([]);
    }
  });
});
