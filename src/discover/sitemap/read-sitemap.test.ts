import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRecencyTest, MAX_SITEMAP_ENTRIES, readSitemap } from "./read-sitemap.ts";

const URL_OF_FILE = "https://a.example/maps/sitemap.xml";

async function read(body: string | Buffer, url = URL_OF_FILE) {
  const entries: (readonly [url: string, lastmod?: string])[] = [];
  const batches: number[] = [];
  const end = await readSitemap({
    body: Buffer.from(body),
    url,
    async onEntries(batch) {
      batches.push(batch.length);
      for (const entry of batch) entries.push(entry.lastmod === undefined ? [entry.url] : [entry.url, entry.lastmod]);
    },
  });
  return { end, entries, batches };
}

const urlset = (content: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<urlset>${content}</urlset>`;

describe("a sitemap", () => {
  it.each<[what: string, body: string | Buffer, urls: string[]]>([
    ["of plain XML", urlset("<url><loc>https://a.example/1</loc></url>"), ["https://a.example/1"]],
    [
      "with whitespace, entities and CDATA",
      urlset(
        "<url><loc>\n  https://a.example/?a=1&amp;b=&#50;\n</loc></url><url><loc><![CDATA[https://a.example/?c=1&d=2]]></loc></url>",
      ),
      ["https://a.example/?a=1&b=2", "https://a.example/?c=1&d=2"],
    ],
    [
      "with a namespace prefix",
      "<s:urlset><s:url><s:loc>https://a.example/1</s:loc></s:url></s:urlset>",
      ["https://a.example/1"],
    ],
    ["in upper case", "<URLSET><URL><LOC>https://a.example/1</LOC></URL></URLSET>", ["https://a.example/1"]],
    [
      "with relative URLs",
      urlset("<url><loc>/1</loc></url><url><loc>2</loc></url>"),
      ["https://a.example/1", "https://a.example/maps/2"],
    ],
    [
      "with URLs that cannot be fetched",
      urlset(
        "<url><loc>ftp://a.example/1</loc></url><url><loc> </loc></url><url/><url><loc>https://a.example/2</loc></url>",
      ),
      ["https://a.example/2"],
    ],
    [
      "with images and videos",
      urlset(
        "<url><image:image><image:loc>https://a.example/i.png</image:loc></image:image><loc>https://a.example/1</loc><video:video><video:player_loc>https://a.example/v</video:player_loc></video:video></url>",
      ),
      ["https://a.example/1"],
    ],
    [
      "without closing tags",
      urlset("<url><loc>https://a.example/1</loc><url><loc>https://a.example/2</loc>"),
      ["https://a.example/1", "https://a.example/2"],
    ],
    [
      "cut off",
      urlset("<url><loc>https://a.example/1</loc></url><url><loc>https://a.exam").slice(0, -9),
      ["https://a.example/1", "https://a.exam/"],
    ],
    [
      "with a byte order mark",
      Buffer.from(`\ufeff  ${urlset("<url><loc>https://a.example/1</loc></url>")}`),
      ["https://a.example/1"],
    ],
    [
      "in UTF-16",
      Buffer.from(`\ufeff${urlset("<url><loc>https://a.example/ä</loc></url>")}`, "utf16le"),
      ["https://a.example/%C3%A4"],
    ],
    [
      "in Latin-1",
      Buffer.from(
        '<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>https://a.example/ä</loc></url></urlset>',
        "latin1",
      ),
      ["https://a.example/%C3%A4"],
    ],
    [
      "with an unknown charset",
      '<?xml version="1.0" encoding="none-such"?><urlset><url><loc>https://a.example/ä</loc></url></urlset>',
      ["https://a.example/%C3%A4"],
    ],
    ["in gzip", gzipSync(urlset("<url><loc>https://a.example/1</loc></url>")), ["https://a.example/1"]],
    [
      "as a list",
      "\ufeffhttps://a.example/1\r\n\r\n  https://a.example/2  \nnot a URL\n/3\nhttps://a.example/4",
      ["https://a.example/1", "https://a.example/2", "https://a.example/4"],
    ],
    [
      "as RSS",
      "<rss><channel><link>https://a.example/</link><atom:link href='https://a.example/feed'/><item><atom:link href='https://a.example/x'/><link>https://a.example/1</link></item><item><guid>https://a.example/2</guid></item><item><guid>id-3</guid></item></channel></rss>",
      ["https://a.example/1", "https://a.example/2"],
    ],
    [
      "as RSS 1.0",
      "<rdf:RDF><channel><link>https://a.example/</link></channel><item><link>https://a.example/1</link></item></rdf:RDF>",
      ["https://a.example/1"],
    ],
    [
      "as Atom",
      "<feed><link href='https://a.example/'/><entry><link rel='self' href='/s'/><link href='/1'/><link rel='alternate' href='/2'/></entry></feed>",
      ["https://a.example/1"],
    ],
  ])("%s is read", async (_, body, urls) => {
    const { end, entries } = await read(body);
    expect(entries.map(([url]) => url)).toEqual(urls);
    expect(end).toMatchObject({ kind: "pages", entries: urls.length });
  });

  it("has the date of each entry", async () => {
    const dated = (name: string, value: string) => `<${name}>${value}</${name}>`;
    const { entries } = await read(
      urlset(
        [
          `<url><loc>/1</loc>${dated("lastmod", " 2026-01-31 ")}</url>`,
          `<url>${dated("lastmod", "2026")}<loc>/2</loc></url>`,
          `<url><loc>/3</loc><news:news>${dated("news:publication_date", "2026-02-01")}</news:news></url>`,
          `<url><news:news>${dated("news:publication_date", "2025")}</news:news><loc>/4</loc>${dated("lastmod", "2026")}</url>`,
          `<url><loc>/5</loc>${dated("lastmod", "")}</url>`,
        ].join(""),
      ),
    );
    const feed = await read(
      "<feed><entry><link href='/1'/><published>2025</published><updated>2026</updated></entry></feed>",
    );
    const rss = await read(
      "<rss><channel><item><link>/1</link><pubDate>Sun, 06 Sep 2009 16:20:00 +0000</pubDate></item></channel></rss>",
    );

    expect(entries.map(([, lastmod]) => lastmod)).toEqual(["2026-01-31", "2026", "2026-02-01", "2026", undefined]);
    expect([feed.entries, rss.entries].map(([first]) => first?.[1])).toEqual([
      "2026",
      "Sun, 06 Sep 2009 16:20:00 +0000",
    ]);
  });

  it("that is an index lists sitemaps, also without loc", async () => {
    const { end, entries } = await read(
      "<sitemapindex><sitemap><loc>/1.xml</loc></sitemap><sitemap> https://a.example/2.xml </sitemap></sitemapindex>",
    );
    expect(end.kind).toBe("index");
    expect(entries).toEqual([["https://a.example/1.xml"], ["https://a.example/2.xml"]]);
  });

  it("is parsed the same, however it is cut into parts", async () => {
    const text = urlset(
      "<url><loc><![CDATA[https://a.example/ä?a]]>&amp;b</loc><lastmod>2026</lastmod></url>".repeat(3),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 400 }), async (spaces) => {
        // Spaces move the content across the border between two parts.
        const { entries } = await read(" ".repeat(65_536 - spaces) + text);
        expect(entries).toEqual(Array(3).fill(["https://a.example/%C3%A4?a&b", "2026"]));
      }),
      { numRuns: 30 },
    );
  });

  it("is passed on in batches, up to the limit of the protocol", async () => {
    const { end, entries, batches } = await read(
      Array.from({ length: MAX_SITEMAP_ENTRIES + 10 }, (_, n) => `https://a.example/${n}`).join("\n"),
    );
    expect(end).toEqual({ kind: "pages", entries: MAX_SITEMAP_ENTRIES, invalid: 10 });
    expect(new Set(entries.map(([url]) => url)).size).toBe(MAX_SITEMAP_ENTRIES);
    expect(Math.max(...batches)).toBeLessThanOrEqual(2_500);
  });

  it("passes the error of the reader of the entries on", async () => {
    const reading = readSitemap({
      body: Buffer.from("https://a.example/1"),
      url: URL_OF_FILE,
      onEntries: () => Promise.reject(new Error("broker lost")),
    });
    await expect(reading).rejects.toThrow("broker lost");
  });
});

describe("a file that is no sitemap", () => {
  const LAUGHS = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join("");

  it.each<[what: string, body: string | Buffer, problem: string]>([
    ["empty", "", "the file is empty"],
    ["blank", " \n\t ", "the file is empty"],
    [
      "HTML",
      "<!DOCTYPE html><html><body><a href='/x'>x</a></body></html>",
      "the file is an HTML page, and is no sitemap",
    ],
    ["other XML", "<svg><url><loc>https://a.example/</loc></url></svg>", "the root element is <svg>"],
    ["XML without elements", "<?xml version='1.0'?><!-- nothing -->", "the XML has no root element"],
    ["text", "Sorry, we moved.\n".repeat(5), "the file is neither XML nor a list of URLs"],
    ["long text", "Sorry, we moved.\n".repeat(5_000), "the file is neither XML nor a list of URLs"],
    ["binary", Buffer.from([137, 80, 78, 71, 0, 1, 2]), "the file is binary, and is no sitemap"],
    [
      "damaged gzip",
      Buffer.concat([gzipSync("x".repeat(999)).subarray(0, 12), Buffer.alloc(50, 7)]),
      "the gzip data is damaged or incomplete",
    ],
    ["nested too deeply", `<urlset>${"<a>".repeat(100_000)}`, "elements are nested deeper than 256"],
    [
      "nested and closed wrongly",
      `<urlset>${"<a>".repeat(200)}${"</b>".repeat(500_000)}<a><a><a>${"<a>".repeat(99)}`,
      "elements are nested deeper than 256",
    ],
  ])("is named: %s", async (_, body, problem) => {
    const { end } = await read(body);
    expect(end).toMatchObject({ kind: "bad", because: "bad_sitemap", entries: 0 });
    expect(end).toMatchObject({ detail: expect.stringContaining(problem) });
  });

  it("keeps the entries before the end of an incomplete gzip file", async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `https://a.example/${n * 7919}`).join("\n");
    const whole = gzipSync(lines);
    const { end, entries } = await read(whole.subarray(0, whole.length - 5_000));
    expect(end).toMatchObject({ kind: "bad", because: "bad_sitemap", detail: expect.stringContaining("Z_BUF_ERROR") });
    expect(entries.length).toBeGreaterThan(1_000);
    expect(entries[1]).toEqual(["https://a.example/7919"]);
  });

  it("expands no entities of a DOCTYPE: neither billion laughs nor external files", async () => {
    const { end, entries } = await read(
      `<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY l0 "lol">${LAUGHS}<!ENTITY x SYSTEM "file:///etc/passwd">
<!ENTITY % p SYSTEM "https://b.example/evil.dtd"> %p;]>
<urlset><url><loc>https://a.example/?a=&l9;</loc></url><url><loc>https://a.example/?b=&x;</loc></url></urlset>`,
    );
    expect(end.kind).toBe("pages");
    expect(entries).toEqual([["https://a.example/?a=&l9;"], ["https://a.example/?b=&x;"]]);
  });
});

describe("the test of lastmod", () => {
  it("keeps entries that may be as new as the given date, and those without a readable date", () => {
    const isRecent = createRecencyTest(Date.UTC(2026, 0, 31, 12));
    const kept = (lastmod: string) => isRecent({ url: "https://a.example/", lastmod });
    expect(
      ["2026-01-31", "2026-01", "2026", "2026-01-31T12:00Z", "Sat, 31 Jan 2026 14:00:00 +0200", "soon"].map(kept),
    ).toEqual(Array(6).fill(true));
    expect(
      ["2026-01-30", "2025", "2026-01-31T11:59:59Z", "2026-01-31T13:00:00+02:00", "30 Jan 26 10:00"].map(kept),
    ).toEqual(Array(5).fill(false));
    expect(isRecent({ url: "https://a.example/" })).toBe(true);
    expect(createRecencyTest(undefined)({ url: "https://a.example/", lastmod: "1990" })).toBe(true);
  });
});

const corpus = new URL("../../../../shared/corpora/cc-sitemaps/src/test/resources/", import.meta.url);
const hasCorpus = existsSync(corpus);
if (!hasCorpus) console.warn("sitemaps: ../shared/corpora/cc-sitemaps is absent, its files are skipped");

/** Number of entries, and one of them. docs/sitemaps.md shows this table. */
const CORPUS: Readonly<Record<string, readonly [kind: string, entries: number, one: string, lastmod?: string]>> = {
  "rss/feed.rss": ["pages", 4, "https://www.example.com/foo?q=a&l=fr"],
  "rss/xmlRss_pubDate.xml": ["pages", 7, "http://www.example.com/article_2", "Thu, 05 Jan 17 13:34:52 +0100"],
  "sitemaps/atom.xml": ["pages", 1, "http://example.org/2003/12/13/atom03", "2003-12-13T18:30:02Z"],
  "sitemaps/do-not-visit.txt": ["pages", 1, "http://www.example.com/do-not-visit-here"],
  "sitemaps/extension/hebdenbridgetimes-articles-sitemap.xml": [
    ...(["pages", 74] as const),
    "http://www.hebdenbridgetimes.co.uk/news/local/video-tour-de-yorkshire-in-calderdale-1-7242580",
    "2015-05-03T18:51:50+01:00",
  ],
  "sitemaps/extension/pagemaps-sitemap.xml": ["pages", 2, "http://www.example.com/bar"],
  "sitemaps/extension/shinpaideshou-news-sitemap.xml": [
    ...(["pages", 3] as const),
    "https://shinpaideshou.wordpress.com/2017/04/25/job-opening-reischauer-policy-research-fellow/",
    "2017-04-25T10:00:36+00:00",
  ],
  "sitemaps/extension/sitemap-images.xml": ["pages", 1, "http://www.example.com/images/some_image_landing_page.html"],
  "sitemaps/extension/sitemap-links.xml": ["pages", 3, "http://www.example.com/schweiz-deutsch/"],
  "sitemaps/extension/sitemap-mobile.xml": ["pages", 3, "http://www.example.com/mobile-friendly-2/"],
  "sitemaps/extension/sitemap-news.xml": ["pages", 2, "http://www.example.org/business/article55.html", "2008-12-23"],
  "sitemaps/extension/sitemap-videos-tvshow.xml": ["pages", 1, "https://example.org/my-tv-show/23/13/"],
  "sitemaps/extension/sitemap-videos.xml": ["pages", 3, "http://www.example.com/videos/some_video_landing_page-3.html"],
  "sitemaps/sitemap-with-bom.txt": ["pages", 2, "http://www.domain.com/page1.html"],
  "sitemaps/sitemap.badns.xml": ["pages", 2, "http://www.example.com/2"],
  "sitemaps/sitemap.index.xml": ["index", 15, "https://example.com/sitemap.jss?portalCode=2&lang=en"],
  "sitemaps/sitemap.ns.xml": ["pages", 2, "http://www.example.com/1"],
  "sitemaps/sitemap.txt": ["pages", 2, "http://www.domain.com/page2.html"],
  "sitemaps/sitemap.txt.gz": ["pages", 5, "http://www.example.com/catalog?item=12&desc=vacation_hawaii"],
  "sitemaps/xmlSitemap.gz": [
    ...(["pages", 5] as const),
    "http://www.example.com/catalog?item=74&desc=vacation_newfoundland",
    "2004-12-23T18:00:15+00:00",
  ],
};

describe.skipIf(!hasCorpus)("the sitemaps of crawler-commons", () => {
  it("are all in the table", () => {
    const files = readdirSync(corpus, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name).sort()).toEqual(
      Object.keys(CORPUS)
        .map((path) => path.split("/").at(-1))
        .sort(),
    );
  });

  it.each(Object.entries(CORPUS))("%s", async (path, [kind, count, one, lastmod]) => {
    const { end, entries } = await read(readFileSync(new URL(path, corpus)), "http://www.example.com/sitemap.xml");
    expect(end).toEqual({ kind, entries: count, invalid: 0 });
    expect(entries).toContainEqual(lastmod === undefined ? [one] : [one, lastmod]);
  });
});
