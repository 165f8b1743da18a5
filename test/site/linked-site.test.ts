import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLinkedSite, LINKED_SITE, type LinkedSiteOptions, startLinkedSite } from "./linked-site.ts";
import { duplicates, missing } from "./loss-checker.ts";

function linksIn(html: string): string[] {
  return [...html.matchAll(/<a href="([^"]+)"/g)].map(([, link = ""]) => link);
}

/** All pages reachable from `/` without following disallowed links. */
async function reach(options: LinkedSiteOptions): Promise<{ pages: string[]; disallowed: string[]; bytes: number[] }> {
  const site = await startLinkedSite(options);
  const seen = new Set(["/"]);
  const bytes: number[] = [];
  for (const path of seen) {
    if (path.startsWith("/private/")) continue;
    const reply = await fetch(site.url + path);
    const html = await reply.text();
    expect(reply.status).toBe(200);
    bytes.push(html.length);
    for (const link of linksIn(html)) seen.add(link);
  }
  await site.close();
  expect(duplicates(site.log.map(({ path }) => path)).size).toBe(0);
  const all = [...seen];
  return {
    pages: all.filter((path) => !path.startsWith("/private/")).sort(),
    disallowed: all.filter((path) => path.startsWith("/private/")).sort(),
    bytes,
  };
}

describe("linked site", () => {
  it("links from / to exactly the expected and the disallowed pages, for any options", async () => {
    const shapes = fc.record({
      pages: fc.integer({ min: 1, max: 40 }),
      linksPerPage: fc.integer({ min: 2, max: 12 }),
      pageBytes: fc.integer({ min: 0, max: 3000 }),
      disallowedEvery: fc.integer({ min: 0, max: 7 }),
      delayMs: fc.constant(0),
      seed: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(shapes, async (options) => {
        const site = createLinkedSite(options);
        const { pages, disallowed } = await reach(options);
        expect(pages).toEqual(site.expectedPaths().sort());
        expect(disallowed).toEqual(site.disallowedPaths().sort());
      }),
      { numRuns: 12 },
    );
  });

  it("has pages of about the configured size", async () => {
    const { bytes } = await reach({ ...LINKED_SITE, pages: 30, pageBytes: 5000 });

    expect(Math.min(...bytes)).toBeGreaterThanOrEqual(5000);
    expect(Math.max(...bytes)).toBeLessThan(5200);
  });

  it("has the same page for the same seed, and other links for another seed", async () => {
    const texts = await Promise.all(
      [1, 1, 2].map(async (seed) => {
        const site = await startLinkedSite({ seed });
        const text = await fetch(`${site.url}/page/7`).then((reply) => reply.text());
        await site.close();
        return text;
      }),
    );

    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).not.toBe(texts[2]);
  });

  it("shows its address on each page, disallows some, and has no page after the last", async () => {
    const site = await startLinkedSite({ pages: 10 });

    expect(missing([`${site.url}/`, `${site.url}/page/9`], site.expectedPages())).toEqual([]);
    expect(site.expectedPages()).toHaveLength(10);
    expect(site.disallowedPages()).toEqual([`${site.url}/private/0`, `${site.url}/private/5`]);
    expect(await fetch(`${site.url}/robots.txt`).then((reply) => reply.text())).toContain("Disallow: /private/\n");
    expect((await fetch(`${site.url}/page/10`)).status).toBe(404);
    expect((await fetch(`${site.url}/page/07`)).status).toBe(404);
    await site.close();
  });
});
