/** `trawl sitemap`: lists the pages of sitemaps. Stores nothing. */
import type { Command } from "commander";
import type { Shutdown } from "../shutdown.ts";
import type { SitemapFlags } from "../sitemap/list-sitemap.ts";

const EXAMPLES = `
Examples:
  trawl sitemap https://shop.example/               all sitemaps of the site
  trawl sitemap https://shop.example/sitemap.xml.gz
  trawl sitemap https://shop.example/ --since 7d | wc -l
  trawl sitemap https://shop.example/ | cut -f1 | trawl submit - --follow none
  trawl sitemap https://blog.example/feed.xml --json | jq -r .url

For a URL without a path, the command reads the sitemaps that robots.txt of the
site names, or /sitemap.xml if it names none. It follows index files. Each line
has the URL of a page and, after a tab, its lastmod. A sitemap may be XML, gzip,
a list of URLs, RSS or Atom.
To crawl the pages, use trawl crawl URL --sitemap.
Exit codes: 0 success, 1 a sitemap cannot be fetched or read, 2 invalid usage,
130 interrupted.`;

export function addSitemap(program: Command, shutdown: Shutdown): void {
  program
    .command("sitemap <url>")
    .description("list the pages of a sitemap or of all sitemaps of a site; nothing is stored")
    .option("--since <when>", "only pages whose lastmod is not older than this date (2026-01-31) or duration (7d)")
    .option("--ignore-robots", "ignore robots.txt, except for the sitemaps that it names")
    .option("--user-agent <text>", "the User-Agent header")
    .option("--json", "print each page as a JSON line: url, lastmod, sitemap")
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, flags: SitemapFlags) => {
      const { listSitemap } = await import("../sitemap/list-sitemap.ts");
      process.exitCode = await listSitemap(url, flags, shutdown);
    });
}
