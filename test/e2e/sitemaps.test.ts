/** Tests crawls that start from sitemaps, from the side of the site, and `trawl sitemap`. */

import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Reply, Routes } from "../site/origin.ts";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { originOf, pagesRequested } from "./sites.ts";

const FAST = ["--rate", "unlimited", "--json", "--quiet"];

type Entry = string | { url: string; lastmod: string };

function sitemapOf(...entries: readonly Entry[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.map((one) => element("url", one)).join("\n")}</urlset>`;
}

function indexOf(...entries: readonly Entry[]): string {
  return `<sitemapindex>${entries.map((one) => element("sitemap", one)).join("\n")}</sitemapindex>`;
}

function element(name: string, entry: Entry): string {
  const { url, lastmod = "" } = typeof entry === "string" ? { url: entry } : entry;
  return `<${name}><loc>${url}</loc>${lastmod === "" ? "" : `<lastmod>${lastmod}</lastmod>`}</${name}>`;
}

/** A site. `content` gets the URL of the site, and returns the answers of its paths. All other paths are pages. */
async function siteWith(content: (url: string) => Routes) {
  let routes: Routes = {};
  const site = await originOf((request, response) => {
    const reply = routes[request.url ?? ""] ?? (request.url === "/robots.txt" ? { status: 404 } : "<h1>page</h1>");
    if (typeof reply === "function") return reply(request, response);
    const { status = 200, headers = {}, body = "" }: Reply = typeof reply === "string" ? { body: reply } : reply;
    response.writeHead(status, { "content-type": "text/html", ...headers }).end(body);
  });
  routes = content(site.url);
  return site;
}

/** A response that never ends, until the client disconnects. */
function writeForever(response: ServerResponse, start: string, part: string): void {
  response.write(start);
  const write = () => {
    while (!response.destroyed && response.write(part));
  };
  response.on("drain", write);
  write();
}

async function crawl(cwd: string, args: readonly string[]) {
  const end = await trawl(["crawl", ...args, ...FAST], { cwd });
  const summary = lastJson<Summary>(end);
  expectBalanced(summary.counts);
  return { end, summary };
}

async function deadOf(cwd: string): Promise<Record<string, string>> {
  const end = await trawl(["dead", "--list", "--json"], { cwd });
  const { dead } = lastJson<{ dead: { url: string; reason: string; history: { detail: string }[] }[] }>(end);
  return Object.fromEntries(
    dead.map(({ url, reason, history }) => [new URL(url).pathname, `${reason}: ${history.at(-1)?.detail}`]),
  );
}

describe("sitemaps of a crawl", () => {
  it("come from robots.txt: an index, its gzip files, and the pages that they list", async () => {
    const site = await siteWith((url) => ({
      "/robots.txt": `User-agent: *\nDisallow: /private\nSitemap: ${url}/index.xml\nSitemap: /feed.xml\n`,
      "/index.xml": indexOf(`${url}/one.xml.gz`, `${url}/two.txt`),
      "/one.xml.gz": {
        headers: { "content-type": "application/gzip" },
        body: gzipSync(sitemapOf(`${url}/a`, `${url}/b?x=1&amp;y=2`, `${url}/private/c`)),
      },
      "/two.txt": `${url}/a\n${url}/d\n`,
      "/feed.xml": `<rss><channel><item><link>${url}/e</link></item></channel></rss>`,
    }));
    const cwd = newFolder();

    const { summary } = await crawl(cwd, [`${site.url}/`, "--sitemap"]);

    const paths = ["/", "/a", "/b?x=1&y=2", "/d", "/e", "/feed.xml", "/index.xml", "/one.xml.gz", "/two.txt"];
    expect(pagesRequested(site).sort()).toEqual(paths);
    expect(summary).toMatchObject({ pages: 5, counts: { dead: 0, refused: 1, duplicate: 1 } });
    expect(site.log.filter(({ path }) => path === "/robots.txt")).toHaveLength(1);
  });

  it("are read without start URLs, and do not use up the page limit", async () => {
    const site = await siteWith((url) => ({
      "/index.xml": indexOf(`${url}/map.xml`),
      "/map.xml": sitemapOf(`${url}/a`, `${url}/b`, `${url}/c`),
    }));
    const cwd = newFolder();

    const { summary } = await crawl(cwd, ["--max-pages", "2", "--sitemap", `${site.url}/index.xml`]);

    expect(summary).toMatchObject({ pages: 2, counts: { dead: 0, refused: 1 } });
    expect(pagesRequested(site).sort()).toEqual(["/a", "/b", "/index.xml", "/map.xml"]);
  });

  it("are those of a site, if the URL has no path; /sitemap.xml if robots.txt names none", async () => {
    const site = await siteWith((url) => ({ "/sitemap.xml": sitemapOf(`${url}/a`) }));

    await crawl(newFolder(), ["--sitemap", site.url]);
    await crawl(newFolder(), ["--ignore-robots", "--sitemap", site.url]);

    expect(pagesRequested(site)).toEqual(["/sitemap.xml", "/a", "/sitemap.xml", "/a"]);
  });

  it("list only pages in the link scope, and their headers go to no other host", async () => {
    const other = await siteWith(() => ({}));
    const site = await siteWith((url) => ({
      "/map.xml": sitemapOf(`${url}/keep/a`, `${url}/drop/b`, `${other.url}/keep/c`),
    }));
    const include = ["--include", "**/keep/**", "-H", "X-Key: canary"];

    await crawl(newFolder(), [...include, "--sitemap", `${site.url}/map.xml`]);
    expect(pagesRequested(site)).toEqual(["/map.xml", "/keep/a"]);
    expect(site.log.filter(({ path }) => path !== "/robots.txt").map(({ headers }) => headers["x-key"])).toEqual([
      "canary",
      "canary",
    ]);
    expect(other.log).toEqual([]);

    await crawl(newFolder(), [
      `${other.url}/start`,
      "--ignore-robots",
      "--scope",
      "site",
      "--sitemap",
      `${site.url}/map.xml`,
    ]);
    expect(pagesRequested(other)).toEqual(["/start", "/keep/c"]);
    await crawl(newFolder(), [...include, "--scope", "any", "--ignore-robots", "--sitemap", `${site.url}/map.xml`]);
    expect(other.log.at(-1)).toMatchObject({ path: "/keep/c" });
    expect(other.log.some(({ headers }) => headers["x-key"] !== undefined)).toBe(false);
  });

  it("leave out pages and files that are older than `since`", async () => {
    const site = await siteWith((url) => ({
      "/index.xml": indexOf(
        { url: `${url}/map.xml`, lastmod: "2026-02-01" },
        { url: `${url}/old.xml`, lastmod: "2025" },
      ),
      "/map.xml": sitemapOf(
        { url: `${url}/before`, lastmod: "2026-01-30" },
        { url: `${url}/same-day`, lastmod: "2026-01-31" },
        { url: `${url}/after`, lastmod: "2026-02-01T00:00:00+01:00" },
        { url: `${url}/unreadable`, lastmod: "soon" },
        `${url}/undated`,
      ),
    }));
    const cwd = newFolder();
    const job = {
      sitemaps: { from: [`${site.url}/index.xml`], since: "2026-01-31" },
      politeness: { rate: "unlimited" },
    };
    writeFileSync(join(cwd, "job.json"), JSON.stringify(job));
    const today = new Date().toISOString();
    const daily = await siteWith((url) => ({
      "/map.xml": sitemapOf({ url: `${url}/new`, lastmod: today }, { url: `${url}/old`, lastmod: "2020-01-01" }),
    }));

    await crawl(cwd, ["job.json"]);
    await crawl(cwd, ["--since", "7d", "--sitemap", `${daily.url}/map.xml`]);
    const needless = await trawl(["crawl", `${site.url}/`, "--since", "7d"], { cwd });

    const pages = ["/after", "/index.xml", "/map.xml", "/same-day", "/undated", "/unreadable"];
    expect(pagesRequested(site).sort()).toEqual(pages);
    expect(pagesRequested(daily)).toEqual(["/map.xml", "/new"]);
    expect([needless.code, needless.stderr]).toEqual([2, expect.stringContaining("--since 7d needs --sitemap")]);
  });

  it("start a spider, and their redirects are followed", async () => {
    const site = await siteWith((url) => ({
      "/old.xml": { status: 301, headers: { location: "/new.xml" } },
      "/new.xml": sitemapOf(`${url}/a`),
      "/loop.xml": { status: 302, headers: { location: "/loop.xml" } },
    }));
    const cwd = newFolder();
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "maps", start: [], sitemaps: ["${site.url}/old.xml", "${site.url}/loop.xml"],
        politeness: { rate: "unlimited" },
        page({ url, depth, emit }) { emit({ url, depth }); },
      };`,
    );

    const end = await trawl(["crawl", "spider.mjs", "--quiet"], { cwd });

    expect(jsonLines(end.stdout)).toMatchObject([{ url: `${site.url}/a`, depth: 1 }]);
    expect(await deadOf(cwd)).toEqual({ "/loop.xml": expect.stringContaining("redirect_loop: ") });
  });

  it("that are hostile or damaged become dead letters with a reason", async () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "${"a".repeat(1000)}"><!ENTITY b "${"&a;".repeat(100)}">]>`;
    const site = await siteWith((url) => ({
      "/cycle.xml": indexOf(`${url}/cycle.xml`, `${url}/back.xml`),
      "/back.xml": indexOf(`${url}/cycle.xml`),
      "/deep-0.xml": indexOf(`${url}/deep-1.xml`),
      "/deep-1.xml": indexOf(`${url}/deep-2.xml`),
      "/deep-2.xml": indexOf(`${url}/deep-3.xml`),
      ...Object.fromEntries(
        [3, 4, 5, 6, 7, 8, 9].map((level) => [`/deep-${level}.xml`, indexOf(`${url}/deep-${level + 1}.xml`)]),
      ),
      "/bomb.xml": `<?xml version="1.0"?>${bomb}<urlset><url><loc>${url}/p?&b;&b;</loc></url></urlset>`,
      "/xxe.xml": `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>${url}/p?f=&f;</loc></url></urlset>`,
      "/page.xml": "<!doctype html><html><body>Not found</body></html>",
      "/cut.xml.gz": { body: gzipSync(sitemapOf(`${url}/cut`)).subarray(0, 100) },
      "/binary.xml": { body: Buffer.from([0, 1, 2, 3, 255, 254, 0, 7]) },
      "/empty.xml": "",
      "/zeros.xml.gz": { body: gzipSync(Buffer.alloc(60 * 1024 * 1024)) },
      "/huge.xml.gz": { body: gzipSync(`<urlset>${" ".repeat(60 * 1024 * 1024)}</urlset>`) },
      "/foreign.xml": sitemapOf("https://foreign.test/a", "http://user:secret@a.test/b", "file:///etc/passwd"),
      "/line.txt": `${url}/${"a".repeat(60 * 1024 * 1024)}`,
      "/endless.xml": (_, response) => writeForever(response, "<urlset><!--", "a".repeat(65_536)),
      "/gone.xml": { status: 404 },
    }));
    const names = ["cycle", "deep-0", "bomb", "xxe", "page", "cut.xml.gz", "binary", "empty", "zeros.xml.gz"];
    const files = [...names, "huge.xml.gz", "foreign", "line.txt", "endless", "gone"].map(
      (name) => `${site.url}/${name}${name.includes(".") ? "" : ".xml"}`,
    );
    const cwd = newFolder();

    await crawl(cwd, ["--retries", "0", "--sitemap", ...files]);

    expect(await deadOf(cwd)).toEqual({
      "/deep-3.xml": expect.stringContaining("bad_sitemap: the index is nested in 3 other index files"),
      "/page.xml": expect.stringContaining("bad_sitemap: the file is an HTML page"),
      "/cut.xml.gz": expect.stringContaining("bad_sitemap: the gzip data is damaged or incomplete"),
      "/binary.xml": expect.stringContaining("bad_sitemap: the file is binary"),
      "/empty.xml": expect.stringContaining("bad_sitemap: the file is empty"),
      "/zeros.xml.gz": expect.stringContaining("bad_sitemap: the file is binary"),
      "/huge.xml.gz": expect.stringContaining("too_big: the sitemap is over 52428800 bytes"),
      "/line.txt": expect.stringContaining("too_big: "),
      "/endless.xml": expect.stringContaining("too_big: "),
      "/gone.xml": expect.stringContaining("http_status: answered 404"),
    });
    const pages = pagesRequested(site).filter((path) => !/\.(?:xml|gz|txt)$/.test(path));
    // Undefined and external entities are not expanded.
    expect(pages.sort()).toEqual(["/p?&b;&b;", "/p?f=&f;"]);
    expect(site.log.filter(({ path }) => path === "/cycle.xml")).toHaveLength(1);
    expect(pagesRequested(site)).not.toContain("/deep-4.xml");
  });

  it("lose and repeat no page if the crawl is killed while it reads them", async () => {
    const perFile = 300;
    const files = ["/1.xml", "/2.xml", "/3.xml"];
    let isKilled = false;
    const site = await siteWith((url) => ({
      "/index.xml": indexOf(...files.map((file) => url + file)),
      ...Object.fromEntries(
        files.map((file, nth) => {
          const pages = Array.from({ length: perFile }, (_, page) => `${url}/p/${nth}-${page}`);
          // The last file has no answer before the crawl is killed.
          return [file, (_, response) => void ((nth < 2 || isKilled) && response.end(sitemapOf(...pages)))];
        }),
      ),
    }));
    const cwd = newFolder();
    const args = ["--follow", "none", "--rate", "unlimited", "--ignore-robots", "--out", "pages.jsonl"];
    const killed = startTrawl(["crawl", ...args, "--sitemap", `${site.url}/index.xml`], { cwd });
    await site.waitForRequests(100);
    killed.kill("SIGKILL");
    await killed.ended;
    isKilled = true;

    const summary = lastJson<Summary>(await trawl(["crawl", "--resume", "--json", "--quiet"], { cwd }));

    expectBalanced(summary.counts);
    expect(summary).toMatchObject({ state: "finished", counts: { dead: 0 }, records: 3 * perFile });
    const pages = pagesRequested(site).filter((path) => path.startsWith("/p/"));
    expect(new Set(pages).size).toBe(3 * perFile);
    expect(site.log.filter(({ path }) => path === "/3.xml")).toHaveLength(2);
  });

  it("are explained and traced by their URL, and refused by robots.txt", async () => {
    const site = await siteWith(() => ({
      "/robots.txt": "User-agent: *\nDisallow: /hidden.xml\n",
      "/gone.xml": { status: 404 },
    }));
    const cwd = newFolder();

    const { summary } = await crawl(cwd, ["--sitemap", `${site.url}/hidden.xml`, `${site.url}/gone.xml`]);
    const explained = await trawl(["explain", `${site.url}/gone.xml`], { cwd });
    const traced = await trawl(["trace", `${site.url}/gone.xml`], { cwd });

    expect(summary).toMatchObject({ counts: { refused: 1, dead: 1 } });
    expect(explained.stdout).toContain("404");
    expect(traced.stdout).toContain("404");
    expect(pagesRequested(site)).toEqual(["/gone.xml"]);
  });

  it("are refused with the value and the fix if they are no URLs", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "job.json"), '{ "sitemaps": { "from": ["a.xml"], "since": "soon" } }');
    writeFileSync(join(cwd, "true.json"), '{ "sitemaps": true }');
    const bad = await trawl(["crawl", "job.json"], { cwd });
    const empty = await trawl(["crawl", "true.json"], { cwd });

    expect([bad.code, bad.stderr]).toEqual([
      2,
      expect.stringContaining('takes the absolute http(s) URL of a sitemap or a site, not "a.xml"'),
    ]);
    expect(bad.stderr).toContain('takes a date such as 2026-01-31, or a duration such as 7d, not "soon"');
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining("nothing to crawl")]);
  });
});

describe("trawl sitemap", () => {
  it("lists the pages of all sitemaps of a site, and reports the files that it cannot read", async () => {
    const site = await siteWith((url) => ({
      "/robots.txt": `Sitemap: ${url}/index.xml\n`,
      "/index.xml": indexOf(`${url}/one.xml.gz`, `${url}/gone.xml`, `${url}/index.xml`),
      "/one.xml.gz": { body: gzipSync(sitemapOf({ url: `${url}/a`, lastmod: "2026-01-31" }, `${url}/b`)) },
      "/gone.xml": { status: 404 },
    }));
    const cwd = newFolder();
    const env = { TRAWL_RATE: "unlimited" };

    const listed = await trawl(["sitemap", site.url], { cwd, env });
    const json = await trawl(["sitemap", `${site.url}/one.xml.gz`, "--json", "--since", "2026-02-01"], { cwd, env });
    const wrong = await trawl(["sitemap", "shop.example"], { cwd, env });

    expect(listed.stdout).toBe(`${site.url}/a\t2026-01-31\n${site.url}/b\n`);
    expect([listed.code, listed.stderr]).toEqual([1, `cannot read ${site.url}/gone.xml: answered 404\n`]);
    expect(jsonLines(json.stdout)).toEqual([
      { url: `${site.url}/b`, lastmod: null, sitemap: `${site.url}/one.xml.gz` },
    ]);
    expect([json.code, wrong.code]).toEqual([0, 2]);
    expect(wrong.stderr).toContain("did you mean: https://shop.example/");
  });
});
