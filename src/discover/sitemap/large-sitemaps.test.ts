/** Sitemaps of 50 MB, which take seconds to parse. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { MAX_SITEMAP_BYTES, readSitemap } from "./read-sitemap.ts";

const urlset = (content: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<urlset>${content}</urlset>`;

async function read(body: string | Buffer) {
  const url = "https://a.example/sitemap.xml";
  return { end: await readSitemap({ body: Buffer.from(body), url, onEntries: async () => {} }) };
}

describe("a sitemap of 50 MB", () => {
  it("is refused if it is too large after decompression, whatever its size before", async () => {
    const { end } = await read(gzipSync(`<urlset>${"<!-- -->".repeat(MAX_SITEMAP_BYTES / 8)}</urlset>`));
    expect(end).toMatchObject({ kind: "bad", because: "too_big" });
  });

  it("takes bounded memory and time: 50 MB in one element, attribute, comment or DOCTYPE", async () => {
    const filling = "a".repeat(MAX_SITEMAP_BYTES - 1_000);
    for (const body of [
      urlset(`<url><loc>https://a.example/${filling}</loc></url>`),
      urlset(`<url x="${filling}"><loc>/1</loc></url>`),
      urlset(`<!-- ${filling} --><url><loc>/1</loc></url>`),
      `<!DOCTYPE x [<!ENTITY a "${filling}">]>${urlset("<url><loc>/1</loc></url>")}`,
      `https://a.example/${filling}`,
    ]) {
      const { end } = await read(body);
      expect(end).toMatchObject({ kind: "pages" });
      expect(end.entries + end.invalid).toBe(1);
    }
  });
});
